"""The alerts of a cluster: their expressions, what they mean and how to fix them."""
