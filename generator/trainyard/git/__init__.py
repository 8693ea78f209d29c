"""Reads commits without running a program that the repository configures."""
