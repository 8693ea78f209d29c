"""Tests of PyTorchJobs."""
