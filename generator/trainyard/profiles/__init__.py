"""Finding and reading the profiles. A profile's kind is its folder and its name is its file's name."""
