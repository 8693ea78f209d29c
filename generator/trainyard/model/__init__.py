"""Facts about a platform: frozen dataclasses, complete and sorted after `resolve`."""
