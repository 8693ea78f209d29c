"""Rules about names of profiles, and of the objects that are named after them."""
