"""Find and read the profiles: the folder of a file is its kind, and the file's name its name."""
