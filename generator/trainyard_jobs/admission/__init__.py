"""Kubernetes' own admission plugins, which judge requests by the generated policies."""
