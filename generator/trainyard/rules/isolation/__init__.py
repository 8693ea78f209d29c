"""Rules about what separates teams, and about what regulations require."""
