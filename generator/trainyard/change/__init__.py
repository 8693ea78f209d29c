"""What a change does: to objects on the cluster, to teams and nodes, and who approves it."""
