"""Hostile text in every field of every profile: no output and no tree changes its meaning."""
