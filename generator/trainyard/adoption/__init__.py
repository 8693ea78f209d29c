"""Draft profiles of a cluster that runs, from a dump; the decisions stay with people."""
