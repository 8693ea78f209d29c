"""Rules about a cluster that runs: what it contradicts of its tree."""
