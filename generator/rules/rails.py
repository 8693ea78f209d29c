"""The compute ports of a node: one for each GPU, all on one fabric."""

from __future__ import annotations

from collections.abc import Iterator

from generator.diagnostics import Diagnostic, Note, Pointer, Rule, Severity
from generator.model.hardware import Hardware, Nic
from generator.model.platform import Platform
from generator.rules._check import Check
from generator.rules._walk import hardware

RAIL_IS_NO_RAIL = Rule(
    id="fabric/rail-is-no-rail",
    severity=Severity.ERROR,
    summary="The rails of a node are ports of their own, one beside each GPU.",
    why=(
        "A rank would talk over another GPU's port, or two SR-IOV policies would take one port, which the operator's"
        " webhook refuses; a pool on a fabric without rails has no way onto it at all."
    ),
    fix="Correct `nics` from what `nvidia-smi topo -m` and `lspci` say on such a node.",
)
RAILS_WITHOUT_FABRIC = Rule(
    id="fabric/rails-without-fabric",
    severity=Severity.ERROR,
    summary="A pool whose nodes have rails names the fabric that they are plugged into.",
    why=(
        "Without a fabric no virtual function is made and no network attached, but quota and runtimes count them:"
        " Kueue admits the jobs and their pods stay Pending (Insufficient openshift.io/...)."
    ),
    fix="Give the pool its `fabric`, or use a hardware profile whose ports are not rails.",
)


def rail_is_no_rail(platform: Platform) -> Iterator[Diagnostic]:
    """Check the ports of each hardware profile, then that pools on a fabric have some."""
    for each in hardware(platform):
        yield from _twice(each, [(nic.pci, nic) for nic in each.nics], "PCI address {}")
        if each.gpu and each.rails:
            yield from _beside_gpus(each, each.gpu.count)
    for site in platform.sites:
        for pool in site.cluster.pools:
            if pool.fabric and not pool.hardware.rails:
                message = (
                    f"pool `{pool.name}` is on fabric `{pool.fabric.name}`, but a `{pool.hardware.name}` has no rails"
                )
                notes = [Note("no port here has the role `rail`", pool.hardware.at / "nics")]
                yield RAIL_IS_NO_RAIL.at(pool.at / "fabric", message, notes=notes)


def _twice(each: Hardware, ports: list[tuple[str, Nic]], what: str) -> Iterator[Diagnostic]:
    known: dict[str, Pointer] = {}
    for value, nic in ports:
        first = known.setdefault(value, nic.at)
        if first != nic.at:
            message = f"two ports of a `{each.name}` have {what.format(value)}"
            yield RAIL_IS_NO_RAIL.at(nic.at, message, notes=[Note("the other", first)])


def _beside_gpus(each: Hardware, gpus: int) -> Iterator[Diagnostic]:
    for nic in each.rails:
        if not 0 <= nic.gpu < gpus:
            stands = f"stands beside GPU {nic.gpu}" if nic.gpu >= 0 else "does not say its GPU"
            yield RAIL_IS_NO_RAIL.at(
                nic.at / "gpu", f"rail {nic.pci} {stands}; a `{each.name}` has GPUs 0 to {gpus - 1}"
            )
    yield from _twice(each, [(str(nic.gpu), nic) for nic in each.rails if nic.gpu >= 0], "GPU {} beside them")
    if len(each.rails) != gpus:
        message = f"a `{each.name}` has {len(each.rails)} rails and {gpus} GPUs"
        yield RAIL_IS_NO_RAIL.at(each.at / "nics", message)


def rails_without_fabric(platform: Platform) -> Iterator[Diagnostic]:
    """Find pools of nodes with rails that name no fabric."""
    for site in platform.sites:
        for pool in site.cluster.pools:
            if pool.hardware.rails and pool.fabric is None:
                rails = len(pool.hardware.rails)
                message = f"pool `{pool.name}` names no fabric, but a `{pool.hardware.name}` has {rails} rails"
                yield RAILS_WITHOUT_FABRIC.at(pool.at.key(), message)


CHECKS = (Check(RAIL_IS_NO_RAIL, rail_is_no_rail), Check(RAILS_WITHOUT_FABRIC, rails_without_fabric))
