"""Decide whether a TrainJob would start, from its form to its nodes, by generated objects."""
