"""What a change of the tree does to people and nodes; pure, from both sides of the change."""
