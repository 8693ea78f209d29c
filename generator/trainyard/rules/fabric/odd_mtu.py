"""Compare the MTU of each fabric with those of its link."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="fabric/odd-mtu",
    severity=Severity.ERROR,
    summary="""
        The MTU of a fabric is one that its link has: 2044 to 4092 on infiniband, 1500 to 9216 on
        roce.
    """,
    why="""
        The SR-IOV operator's daemon can't set it: the state of every node stays Failed, and no VF
        is made.
    """,
    fix="Write what the switches are set to, or nothing to leave it to the driver.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for fabric in (fabric for site in platform.sites for fabric in site.cluster.fabrics):
        least, most = fabric.link.mtus
        if fabric.mtu and not least <= fabric.mtu <= most:
            message = (
                f"fabric `{fabric.name}` has an MTU of {fabric.mtu}; {fabric.link.name} "
                f"takes {least} to {most}"
            )
            yield RULE.at(fabric.at / "mtu", message)


CHECK = Check(RULE, find)
