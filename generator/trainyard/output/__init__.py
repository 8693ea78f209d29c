"""The committed tree: compared with what is generated, and replaced whole or not at all."""
