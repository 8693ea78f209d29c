"""Profiles to a tree in memory: the stages in their order, which no other code knows."""
