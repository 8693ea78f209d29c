"""Changing the profiles for their owner: a new repository, a new team. What is written by hand stays as it was."""
