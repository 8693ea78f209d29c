"""Find pools on a fabric whose ports the SR-IOV operator or the jobs do not support."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.card import CARDS, FUNCTIONS, VENDOR
from trainyard.model.fabric import RailFabric
from trainyard.model.hardware import Hardware
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

_IN_VM = (
    "In a virtual machine, where `lspci -nn` shows no other id, there is no SR-IOV to configure: "
    "set `link: exclusive-devices` and the `devices` that the node advertises. On a server, set "
    "`device` to the id of the port itself."
)


RULE = Rule(
    id="fabric/unsupported-nic",
    severity=Severity.ERROR,
    summary="""
        The ports of a pool on a fabric belong to a card that the SR-IOV operator supports and that
        mlx5 drives.
    """,
    why="""
        The sync unit never syncs, because the operator's webhook refuses the policy (`vendor/device
        <vendor>/<device> is not supported`, openshift/sriov-network-operator#552). With cards of
        other makers, ranks may fall back to TCP without a message: neither the networks nor the
        runtimes' settings were written for them.
    """,
    fix="Set `vendor` and `device` of the port to what `lspci -nn` shows on such a node.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for rail in (pool.rails[0] for pool in site.cluster.pools if pool.rails):
            each, fabric = rail.pool.hardware, rail.fabric
            if problem := _nic_problem(each, fabric, site.cluster.external):
                field = "vendor" if each.nic_vendor != VENDOR else "device"
                on_fabric = f"pool `{rail.pool.name}` is on fabric `{fabric.name}`"
                notes = [Note(on_fabric, rail.pool.at / "fabric")]
                message, hint = problem
                yield RULE.at(each.at / "nic" / field, message, hint=hint, notes=notes)


def _nic_problem(
    each: Hardware, fabric: RailFabric, external: Mapping[str, str]
) -> tuple[str, str] | None:
    """Return the problem of the ports and a hint; the hint is empty if the ids are wrong."""
    ids = f"{each.nic_vendor}:{each.nic_device}"
    if each.nic_vendor != VENDOR:
        hint = (
            "Give these ports another `role` than `rail` and remove the pool's `fabric`; jobs "
            "then use sockets."
        )
        message = f"the rails of a `{each.name}` are ports {ids}, but jobs need NVIDIA's, {VENDOR}"
        return message, hint
    if each.nic_device in FUNCTIONS:
        return f"{ids} is the id of virtual functions, not of the rails of a `{each.name}`", _IN_VM
    card = CARDS.get(each.nic_device)
    if card and not card.infiniband and fabric.link.name == "infiniband":
        hint = f"Set `link: roce` on fabric `{fabric.name}`, or correct the device."
        return f"{ids} is {card.name}, which does not support InfiniBand", hint
    if card is None and f"Nic/{ids}" not in external:
        hint = (
            f"If its owner added the port to the operator's list, declare `Nic/{ids}` with that "
            "owner in `external` of the cluster."
        )
        message = (
            f"the SR-IOV operator does not support {ids}, and `Nic/{ids}` is not declared in "
            "`external`"
        )
        return message, hint
    return None


CHECK = Check(RULE, find)
