"""The rehearsal: a cluster's tree tried out on a real control plane without containers."""
