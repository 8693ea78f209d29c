"""Rules that a resolved platform must satisfy: one module each, whose path is the rule's id."""
