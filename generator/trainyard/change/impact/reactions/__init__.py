"""What each kind of edit does to what runs: a table, from what was seen and from sources."""
