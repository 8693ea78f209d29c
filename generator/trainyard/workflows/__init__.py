"""What each command does, from its first step to its last."""
