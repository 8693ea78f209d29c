"""Render the platform: a catalog of templates, and the views that they read."""
