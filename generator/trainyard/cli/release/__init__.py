"""Releases as text and as JSON."""
