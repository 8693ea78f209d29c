"""Benchmarks: medians over whole processes, never timed asserts. Run by `make bench`."""
