"""One module a command; its ``command`` is what the command line calls and returns the exit code."""
