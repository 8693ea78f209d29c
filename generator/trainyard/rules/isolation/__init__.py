"""What keeps teams apart."""
