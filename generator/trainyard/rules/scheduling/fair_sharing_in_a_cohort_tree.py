"""Find clusters that combine fair sharing with a tree of cohorts."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="scheduling/fair-sharing-in-a-cohort-tree",
    severity=Severity.WARNING,
    summary="Fair sharing is used only where no cohort has a parent.",
    why="""
        An urgent job is evicted while another team's batch job stays, whatever their priorities
        (seen with Kueue 0.19.2; kubernetes-sigs/kueue#10131). This happens when an owner takes its
        nodes back and two teams have borrowed the same number: the team whose cohort is a child
        loses its job.
    """,
    fix="Set `sharing: classical`, or remove the `parent`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        children = [cohort for cohort in site.cluster.cohorts if cohort.parent]
        if children and site.cluster.sharing == "fair":
            message = f"cluster {site.name} has fair sharing and a tree of cohorts"
            notes = [
                Note(f"`{cohort.name}` has a parent", cohort.at / "parent") for cohort in children
            ]
            yield RULE.at(site.cluster.at / "sharing", message, notes=notes)


CHECK = Check(RULE, find)
