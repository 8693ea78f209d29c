"""The commands that convert jobs of other systems, and what they share."""
