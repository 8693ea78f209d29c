"""Quota against the nodes that there are."""
