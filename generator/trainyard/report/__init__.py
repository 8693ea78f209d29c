"""A report of a platform as one HTML page that needs no network."""
