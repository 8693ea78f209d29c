"""Fuzzing: mutated and random profiles pass every stage up to the tree without an exception."""
