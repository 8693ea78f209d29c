"""Kinds of fabrics that Trainyard does not build, by the names that people write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trainyard.model.named import by_name


@dataclass(frozen=True, slots=True)
class Refusal:
    """A kind of fabric that people have and Trainyard does not build.

    Args:
        title: its name in the field, with where people have it.
        reason: what it would need, one sentence.
        instead: what to choose, one sentence.
    """

    name: str
    title: str
    reason: str
    instead: str


_SOCKETS = "Leave `fabric` of the pool out: jobs then use TCP over the pod network."
_PLUGINS = "Use `efa`, or the extended resource that a device plugin advertises."

REFUSALS: Mapping[str, Refusal] = by_name(
    (
        Refusal(
            "tcp",
            "TCP over the pod network",
            "It is not a fabric of its own: every pod has it.",
            _SOCKETS,
        ),
        Refusal(
            "tcpx",
            "GKE, A3 High (GPUDirect-TCPX)",
            "A pod needs Google's daemon beside its ranks, with the right to change networks, "
            "which no restricted namespace permits.",
            _SOCKETS,
        ),
        Refusal(
            "tcpxo",
            "GKE, A3 Mega (GPUDirect-TCPXO)",
            "A pod needs Google's daemon beside its ranks, with the right to change networks, "
            "which no restricted namespace permits.",
            _SOCKETS,
        ),
        Refusal(
            "spectrum-x",
            "NVIDIA Spectrum-X by its operator",
            "Its operator makes rails and addresses itself, and separates teams in the switches.",
            "Use `roce` without that operator.",
        ),
        Refusal(
            "dra",
            "Network cards by claims (DRANET, the EFA and SR-IOV drivers of DRA)",
            "Trainer drops the claims of a job that sets `resourcesPerNode`, and Kueue needs each "
            "class mapped.",
            _PLUGINS,
        ),
        Refusal(
            "host-network",
            "Host network with the RDMA devices of the node",
            "No policy holds for such pods, and only privileged ones see the devices.",
            "Use `exclusive-devices` with a device plugin.",
        ),
    )
)
"""By a name that people write."""
