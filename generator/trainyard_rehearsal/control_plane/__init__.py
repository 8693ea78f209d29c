"""A control plane without containers, the programs that it runs, and what plays the part of nodes."""
