"""Properties of the model that only templates ask for."""
