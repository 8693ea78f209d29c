"""One module for each command: its ``command`` is the click command."""
