"""Look up the ids of the ports of each pool on a fabric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.fabric import Fabric
from trainyard.model.hardware import Hardware
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

_NVIDIA = "15b3"


_PORTS = frozenset(
    {"1013", "1015", "1017", "1019", "101b", "101d", "101f", "1021", "1023", "a2d6", "a2dc"}
)


_FUNCTIONS = frozenset({"1014", "1016", "1018", "101a", "101c", "101e"})
"""Ports and their VFs
(k8snetworkplumbingwg/sriov-network-operator:.../templates/configmap.yaml@v1.6.0)."""


_ETHERNET = {"1015": "ConnectX-4 Lx", "101d": "ConnectX-6 Dx", "101f": "ConnectX-6 Lx"}


RULE = Rule(
    id="fabric/unsupported-nic",
    severity=Severity.ERROR,
    summary="""
        The ports of a pool on a fabric are those of a card that the SR-IOV operator knows, driven
        by mlx5.
    """,
    why="""
        The operator's webhook refuses the policy (`vendor/device <vendor>/<device> is not
        supported`, openshift/sriov-network-operator#552), so the unit never syncs. For other
        makers' cards neither the networks nor the runtimes' settings were written: ranks may fall
        back to TCP in silence.
    """,
    fix="Take the vendor and device of the port from `lspci -nn` on such a node.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for rail in (pool.rails[0] for pool in site.cluster.pools if pool.rails):
            each, fabric = rail.pool.hardware, rail.fabric
            if problem := _nic_problem(each, fabric, site.cluster.external):
                field = "vendor" if each.nic_vendor != _NVIDIA else "device"
                notes = [
                    Note(
                        f"pool `{rail.pool.name}` is on fabric `{fabric.name}`",
                        rail.pool.at / "fabric",
                    )
                ]
                message, hint = problem
                yield RULE.at(each.at / "nic" / field, message, hint=hint, notes=notes)


def _nic_problem(
    each: Hardware, fabric: Fabric, external: Mapping[str, str]
) -> tuple[str, str] | None:
    """Return what is wrong with the ports, and what puts it right; no hint where the ids themselves are wrong."""
    ids = f"{each.nic_vendor}:{each.nic_device}"
    if each.nic_vendor != _NVIDIA:
        hint = (
            "Give these ports another `role` than `rail` and remove the pool's `fabric`: jobs "
            "then use sockets."
        )
        return (
            f"the rails of a `{each.name}` are ports {ids}, but jobs use NVIDIA's, {_NVIDIA}",
            hint,
        )
    if each.nic_device in _FUNCTIONS:
        return f"{ids} is the id of virtual functions, not of the rails of a `{each.name}`", ""
    if each.nic_device in _ETHERNET and fabric.link.name == "infiniband":
        hint = f"Set `link: roce` on fabric `{fabric.name}`, or correct the device."
        return f"{ids} is {_ETHERNET[each.nic_device]}, which has no InfiniBand", hint
    if each.nic_device not in _PORTS and f"Nic/{ids}" not in external:
        hint = (
            f"If its owner added the port to the operator's list, declare `Nic/{ids}` with that "
            "owner in `external`."
        )
        return (
            (
                f"the SR-IOV operator does not know {ids}, and `Nic/{ids}` is not declared in "
                "`external`"
            ),
            hint,
        )
    return None


CHECK = Check(RULE, find)
