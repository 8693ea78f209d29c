"""Describe what changes of jobs, claims, regulations and other values."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.change.impact.model import ClusterImpact
from trainyard.cli.impact.marks import Names
from trainyard.model.quantity import format_seconds


def job_lines(cluster: ClusterImpact, names: Names) -> Iterator[str]:
    """Yield which priorities jobs may have, and how long they may run."""
    for priority in cluster.priorities:
        mark, may = ("+", "may") if priority.added else ("-", "may no longer")
        yield f"{mark} jobs of {names(priority.namespaces)} {may} have priority {priority.priority}"
    if any(priority.added for priority in cluster.priorities):
        yield "  Within a team's queue a job goes before those of lower priority, and evicts them."
    for deadline in cluster.deadlines:
        times = f"{_time(deadline.before)} -> {_time(deadline.after)}"
        yield f"~ a new job of priority {deadline.priority} may run {times}"


def _time(seconds: int) -> str:
    return format_seconds(seconds) if seconds else "for any time"


def storage_lines(cluster: ClusterImpact) -> Iterator[str]:
    """Yield each claim with another size."""
    for claim in cluster.claims:
        sizes = f"{claim.before} -> {claim.after}"
        mark = "!" if claim.grows else "~"
        yield f"{mark} claim {claim.claim} of {claim.namespace}: {sizes}"
    if any(claim.grows for claim in cluster.claims):
        yield "  No claim can be made smaller again: a revert is refused."


def compliance_lines(cluster: ClusterImpact) -> Iterator[str]:
    """Yield the regulations that teams are under, and what is demanded of them."""
    for each in cluster.regulations:
        if each.before != each.after:
            regulations = f"{each.before or 'no regulation'} -> {each.after or 'no regulation'}"
            yield f"{'~' if each.after else '!'} {each.team} is under {regulations}"
        for words, measures in (
            ("! no longer demanded of", each.lost),
            ("+ demanded of", each.gained),
            ("! no longer answered for", each.opened),
            ("+ answered for", each.answered),
        ):
            if measures:
                yield f"{words} {each.team}: {', '.join(measures)}"


def fact_lines(cluster: ClusterImpact, topic: str, names: Names) -> Iterator[str]:
    """Yield the values that differ and belong below a heading."""
    for each in cluster.facts:
        if each.topic == topic:
            what = f"{each.what} " if each.what else ""
            yield f"~ {names(each.subjects)}: {what}{each.before} -> {each.after}"
