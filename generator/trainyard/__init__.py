"""Trainyard: short profiles in, a validated GitOps tree for GPU clusters out."""

__version__ = "0.1.0"
