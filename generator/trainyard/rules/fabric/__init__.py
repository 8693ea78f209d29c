"""Rules about partitions, VLANs, addresses and rails."""
