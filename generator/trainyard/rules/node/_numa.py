"""NUMA nodes of network ports."""

from __future__ import annotations

from trainyard.model.hardware import Hardware, Nic

NO_EFFECT = (
    "People who place data loaders or choose a port by this number use the wrong one. Nothing on "
    "the cluster uses it: a pod has a virtual function of each rail, and kubelet aligns GPUs and "
    "cores where it can."
)


def placed(each: Hardware) -> list[Nic]:
    """Return the ports with a stated NUMA node, sorted by PCI address."""
    return sorted((nic for nic in each.nics if nic.numa >= 0), key=lambda nic: nic.pci)
