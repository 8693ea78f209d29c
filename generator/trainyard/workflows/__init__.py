"""What each command does: the order of the stages, and the only code that knows it."""
