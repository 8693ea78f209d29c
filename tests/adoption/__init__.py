"""Import of clusters that run."""
