"""The command line: the one home of click, and the only room that prints. Each command is a module, loaded when asked for."""
