"""Compare the committed tree with the generated one, and replace it as a whole."""
