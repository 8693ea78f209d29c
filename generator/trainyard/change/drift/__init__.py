"""What somebody changed on a cluster by hand: its objects beside the committed ones."""
