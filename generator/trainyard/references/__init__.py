"""Check that every name in a manifest is defined in the tree or declared external."""
