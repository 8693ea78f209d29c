"""Fuzzing: mutated and made-up profiles go through every stage up to the tree, and nothing may be
raised."""
