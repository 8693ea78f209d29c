"""A real control plane without containers, on which a cluster's tree shows what it does."""
