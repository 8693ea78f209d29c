"""Reject changes of committed objects that the API server refuses or that break running jobs."""
