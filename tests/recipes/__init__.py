"""The recipes of CONTRIBUTING, followed in a copy of this repository."""
