"""Names, and what Kubernetes takes as one."""
