"""What pools cost, in each form of ``trainyard capacity --cost``."""
