"""Commands for jobs, and what they print."""
