"""The documentation, and the program that writes its reference part from the code."""
