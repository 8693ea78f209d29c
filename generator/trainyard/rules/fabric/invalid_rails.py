"""Find hardware whose rails do not match its GPUs, and pools on a fabric without rails."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Pointer, Rule, Severity
from trainyard.model.hardware import Hardware, Nic
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware

RULE = Rule(
    id="fabric/invalid-rails",
    severity=Severity.ERROR,
    summary="The rails of a node are different ports, one for each GPU.",
    why="""
        A rank would use the port of another GPU, or two SR-IOV policies would configure one port,
        which the operator's webhook refuses. A pool without rails has no connection to its fabric.
    """,
    fix="Correct `nics` from what `nvidia-smi topo -m` and `lspci` show on such a node.",
)


_OWN = {
    "pci": "have PCI address {}",
    "interface": "are interface `{}`",
    "device": "are RDMA device `{}`",
}
"""What no two ports of a node have in common, by its field."""

_WRONG_NUMBER = (
    "Correct `nics` from what `nvidia-smi topo -m` and `lspci` show on such a node. If the node "
    "really has these ports, Trainyard does not support it on a fabric: give the ports another "
    "`role` than `rail`, and remove the pool's `fabric`; jobs then use sockets."
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for node_type in hardware(platform):
        for field, problem in _OWN.items():
            ports = [(value, nic) for nic in node_type.nics if (value := getattr(nic, field))]
            yield from _repeated(node_type, ports, problem)
        if node_type.gpu and node_type.rails:
            yield from _unlike_gpus(node_type, node_type.gpu.count)
    yield from _pools_without_rails(platform)


def _pools_without_rails(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for pool in site.cluster.pools:
            if pool.rail_fabric and not pool.hardware.rails:
                message = (
                    f"pool `{pool.name}` is on fabric `{pool.rail_fabric.name}`, but a "
                    f"`{pool.hardware.name}` has no rails"
                )
                notes = [Note("no port here has the role `rail`", pool.hardware.at / "nics")]
                yield RULE.at(pool.at / "fabric", message, notes=notes)


def _repeated(each: Hardware, ports: list[tuple[str, Nic]], problem: str) -> Iterator[Diagnostic]:
    """Yield a finding for each port whose value an earlier port has too."""
    known: dict[str, Pointer] = {}
    for value, nic in ports:
        first = known.setdefault(value, nic.at)
        if first != nic.at:
            message = f"two ports of a `{each.name}` {problem.format(value)}"
            yield RULE.at(nic.at, message, notes=[Note("the other port", first)])


def _unlike_gpus(each: Hardware, gpus: int) -> Iterator[Diagnostic]:
    for nic in each.rails:
        if not 0 <= nic.gpu < gpus:
            assigned = f"is assigned to GPU {nic.gpu}" if nic.gpu >= 0 else "has no `gpu`"
            message = f"rail {nic.pci} {assigned}; a `{each.name}` has GPUs 0 to {gpus - 1}"
            yield RULE.at(nic.at / "gpu", message)
    assigned_rails = [(str(nic.gpu), nic) for nic in each.rails if nic.gpu >= 0]
    yield from _repeated(each, assigned_rails, "are assigned to GPU {}")
    if len(each.rails) != gpus:
        numbers = f"{counted(len(each.rails), 'rail')} and {counted(gpus, 'GPU')}"
        message = f"a `{each.name}` has {numbers}; a fabric needs one rail for each GPU"
        yield RULE.at(each.at / "nics", message, hint=_WRONG_NUMBER)


CHECK = Check(RULE, find)
