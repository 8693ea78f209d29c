"""The closed reference graph: every name that a manifest uses is defined in the tree or declared external."""
