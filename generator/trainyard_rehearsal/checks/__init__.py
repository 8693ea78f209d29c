"""What a rehearsal tries, one promise or more a module; each yields outcomes."""
