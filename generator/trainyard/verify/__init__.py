"""The committed tree as kustomize and kubeconform see it: the one home of other programs."""
