"""What a platform is: frozen dataclasses, complete and sorted after `resolve`. Templates read their attributes."""
