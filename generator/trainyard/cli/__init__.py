"""The command line: the one home of click, and the only room that prints. Commands load on demand."""
