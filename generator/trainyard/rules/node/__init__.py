"""Rules about node hardware: labels, taints, and the resources left to jobs."""
