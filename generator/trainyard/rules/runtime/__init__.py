"""How jobs are launched."""
