"""Sources to Platform: defaults filled, references followed, everything sorted. After this nothing is missing."""
