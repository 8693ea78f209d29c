"""Partitions, addresses and rails."""
