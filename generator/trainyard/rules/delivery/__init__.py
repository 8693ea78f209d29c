"""Rules about how Argo CD delivers the tree, and about hand-written components."""
