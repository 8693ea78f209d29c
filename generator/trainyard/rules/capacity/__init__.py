"""Rules that compare quota with the nodes that exist."""
