"""Read a cluster: its objects by kubectl or from dumps, without what no check reads."""
