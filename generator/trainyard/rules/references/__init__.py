"""Names that must be known."""
