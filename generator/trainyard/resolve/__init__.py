"""Resolve profiles: fill defaults, look up names, sort everything."""
