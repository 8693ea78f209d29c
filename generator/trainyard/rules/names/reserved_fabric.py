"""Find fabrics with a name that has another meaning in the ledger."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.ids import UIDS
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="names/reserved-fabric",
    severity=Severity.ERROR,
    summary="No fabric is named `uids`.",
    why="""
        Allocations of the fabric would be read as user ids, and `add team` would write lines that
        are refused: in `profiles/allocations.yaml`, `uids` next to the cluster's fabrics has the
        user ids of its namespaces.
    """,
    fix="Rename the fabric before any team has an allocation of it.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for fabric in site.cluster.fabrics:
            if fabric.name == UIDS:
                yield RULE.at(fabric.at.key(), f"a fabric cannot be named `{UIDS}`")


CHECK = Check(RULE, find)
