"""Scenarios of rules on a real control plane, each with the rule's bad tree; see `make e2e`."""
