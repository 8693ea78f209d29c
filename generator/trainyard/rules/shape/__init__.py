"""Rules about the form of a profile: what a reader and a schema see in it."""
