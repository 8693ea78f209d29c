"""What Argo CD makes of the tree."""
