"""A control plane without containers: its programs, and fakes for nodes and controllers."""
