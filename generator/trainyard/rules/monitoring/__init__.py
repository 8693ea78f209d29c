"""Rules about what watches the platform."""
