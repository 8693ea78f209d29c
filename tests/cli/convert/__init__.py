"""``trainyard convert``."""
