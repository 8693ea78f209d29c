"""Rules about the versions of a cluster's operators."""
