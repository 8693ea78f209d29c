"""Find fabrics with an MTU that their link does not support."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="fabric/odd-mtu",
    severity=Severity.ERROR,
    summary="""
        The MTU of a fabric is one that its link supports: 2044 to 4092 on infiniband, 1500 to 9216
        on roce.
    """,
    why="""
        No virtual function is created, and the state of every node stays Failed, because the SR-IOV
        operator's daemon cannot set the MTU.
    """,
    fix="Set `mtu` to the value of the switches, or remove it so that the driver decides.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    fabrics = (fabric for site in platform.sites for fabric in site.cluster.rail_fabrics)
    for fabric in fabrics:
        least, most = fabric.link.mtus
        if fabric.mtu and not least <= fabric.mtu <= most:
            message = (
                f"fabric `{fabric.name}` has an MTU of {fabric.mtu}; {fabric.link.name} "
                f"supports {least} to {most}"
            )
            yield RULE.at(fabric.at / "mtu", message)


CHECK = Check(RULE, find)
