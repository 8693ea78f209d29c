"""Derive the strict schemas of a release from what its modules, or a cluster, say of each kind."""
