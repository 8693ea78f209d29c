"""Check the ports of each hardware profile, then that pools on a fabric have some."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Pointer, Rule, Severity
from trainyard.model.hardware import Hardware, Nic
from trainyard.model.platform import Platform
from trainyard.model.quantity import counted
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware

RULE = Rule(
    id="fabric/rail-is-no-rail",
    severity=Severity.ERROR,
    summary="The rails of a node are ports of their own, one beside each GPU.",
    why="""
        A rank would talk over another GPU's port, or two SR-IOV policies would take one port, which
        the operator's webhook refuses; a pool on a fabric without rails has no way onto it at all.
    """,
    fix="Correct `nics` from what `nvidia-smi topo -m` and `lspci` say on such a node.",
)


_UNLIKE = (
    "If the node really has these, Trainyard does not support it on a fabric: give the ports "
    "another `role` than `rail`, and remove the pool's `fabric`; jobs then use sockets. If the "
    "profile is wrong, correct `nics` from what `nvidia-smi topo -m` and `lspci` say on such a "
    "node."
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for each in hardware(platform):
        yield from _twice(each, [(nic.pci, nic) for nic in each.nics], "PCI address {}")
        if each.gpu and each.rails:
            yield from _beside_gpus(each, each.gpu.count)
    for site in platform.sites:
        for pool in site.cluster.pools:
            if pool.fabric and not pool.hardware.rails:
                message = (
                    f"pool `{pool.name}` is on fabric `{pool.fabric.name}`, but a "
                    f"`{pool.hardware.name}` has no rails"
                )
                notes = [Note("no port here has the role `rail`", pool.hardware.at / "nics")]
                yield RULE.at(pool.at / "fabric", message, notes=notes)


def _twice(each: Hardware, ports: list[tuple[str, Nic]], what: str) -> Iterator[Diagnostic]:
    known: dict[str, Pointer] = {}
    for value, nic in ports:
        first = known.setdefault(value, nic.at)
        if first != nic.at:
            message = f"two ports of a `{each.name}` have {what.format(value)}"
            yield RULE.at(nic.at, message, notes=[Note("the other", first)])


def _beside_gpus(each: Hardware, gpus: int) -> Iterator[Diagnostic]:
    for nic in each.rails:
        if not 0 <= nic.gpu < gpus:
            stands = f"stands beside GPU {nic.gpu}" if nic.gpu >= 0 else "does not say its GPU"
            yield RULE.at(
                nic.at / "gpu", f"rail {nic.pci} {stands}; a `{each.name}` has GPUs 0 to {gpus - 1}"
            )
    yield from _twice(
        each, [(str(nic.gpu), nic) for nic in each.rails if nic.gpu >= 0], "GPU {} beside them"
    )
    if len(each.rails) != gpus:
        has = f"a `{each.name}` has {counted(len(each.rails), 'rail')} and {counted(gpus, 'GPU')}"
        yield RULE.at(
            each.at / "nics", f"{has}; a fabric needs one rail for each GPU", hint=_UNLIKE
        )


CHECK = Check(RULE, find)
