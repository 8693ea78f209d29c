"""Find fabrics with the name of another part of the ledger."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.ids import UIDS
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="names/reserved-fabric",
    severity=Severity.ERROR,
    summary="No fabric is called `uids`.",
    why="""
        In `profiles/allocations.yaml` the cluster's fabrics stand beside `uids`, the user ids of
        its namespaces: what teams hold on the fabric would be read as those, and `add team` would
        write lines that are refused.
    """,
    fix="Rename the fabric, before any team holds something on it.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for fabric in site.cluster.fabrics:
            if fabric.name == UIDS:
                yield RULE.at(fabric.at.key(), f"a fabric can't be called `{UIDS}`")


CHECK = Check(RULE, find)
