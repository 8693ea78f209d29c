"""The command line, with click; only this package prints, and it loads commands on demand."""
