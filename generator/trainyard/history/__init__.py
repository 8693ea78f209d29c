"""What running jobs and the API server don't survive: the committed tree against the one that is to replace it."""
