"""The APIs of Git hosts: find a pull request, and keep one comment on it up to date."""
