"""What a node is set to, and what it leaves to jobs."""
