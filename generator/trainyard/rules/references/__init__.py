"""Rules about storage requests, and about objects that others provide."""
