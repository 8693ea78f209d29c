"""Rules about who may do what: roles, groups and service accounts."""
