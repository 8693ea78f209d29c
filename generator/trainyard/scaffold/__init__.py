"""Write a new repository or a new team, and leave hand-written text as it is."""
