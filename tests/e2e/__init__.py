"""What the rules claim, seen: the bad tree of a rule on a real control plane. Run by ``make
e2e``."""
