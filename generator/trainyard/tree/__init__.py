"""The committed tree, on disk or of a commit: what it has, and how a new one replaces it."""
