"""Find cohorts with a parent in clusters with fair sharing."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="scheduling/fair-sharing-in-a-cohort-tree",
    severity=Severity.WARNING,
    summary="Fair sharing is used with flat cohorts only.",
    why="""
        When an owner takes its nodes back and two have borrowed as much, the one in a cohort of its
        own below pays, whatever the priorities: its urgent job is evicted and the other's batch job
        stays (seen with Kueue 0.19.2; kubernetes-sigs/kueue#10131).
    """,
    fix="Set `sharing: classical`, or take the `parent` away.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        children = [cohort for cohort in site.cluster.cohorts if cohort.parent]
        if children and site.cluster.sharing == "fair":
            message = f"cluster {site.name} shares by weight in a tree of cohorts"
            notes = [
                Note(f"`{cohort.name}` has a parent", cohort.at / "parent") for cohort in children
            ]
            yield RULE.at(site.cluster.at / "sharing", message, notes=notes)


CHECK = Check(RULE, find)
