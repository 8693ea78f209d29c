"""NUMA nodes of ports: what a node can't have, and what looks like a slip."""

from __future__ import annotations

from trainyard.model.hardware import Hardware, Nic

NOTHING_PINS = (
    "Nothing on the cluster uses the number: a pod has a virtual function of each rail, and "
    "kubelet aligns GPUs and cores where it can. People who place data loaders or choose a port by "
    "it use the wrong one."
)


def placed(each: Hardware) -> list[Nic]:
    """Return the ports whose NUMA node is stated, by PCI address."""
    return sorted((nic for nic in each.nics if nic.numa >= 0), key=lambda nic: nic.pci)
