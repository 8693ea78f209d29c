"""Changes of the committed tree that each audit must find."""
