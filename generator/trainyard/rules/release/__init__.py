"""What the release serves, and what is known to fail."""
