"""All families in order: the whole of this stage."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic
from trainyard.model.platform import Platform
from trainyard.rules import (
    access,
    addresses,
    buckets,
    capacity,
    clusters,
    cohorts,
    compliance,
    delivery,
    ends,
    external,
    flavors,
    folders,
    hardware,
    ids,
    isolation,
    jobs,
    labels,
    limits,
    names,
    node,
    numa,
    partitions,
    placeholders,
    rails,
    ranks,
    release,
    runtime,
    scheduling,
    secrets,
    shares,
    steps,
    system_namespaces,
    versions,
    volumes,
)

FAMILIES = (
    names,
    external,
    capacity,
    jobs,
    shares,
    cohorts,
    scheduling,
    flavors,
    folders,
    partitions,
    addresses,
    rails,
    access,
    isolation,
    ids,
    buckets,
    compliance,
    runtime,
    versions,
    hardware,
    steps,
    system_namespaces,
    ranks,
    node,
    numa,
    labels,
    limits,
    delivery,
    placeholders,
    clusters,
    secrets,
    volumes,
    release,
)
CHECKS = tuple(check for family in FAMILIES for check in family.CHECKS)
RULES = (*(check.rule for check in CHECKS), *ends.RULES)


def check_meaning(platform: Platform, today: str = "") -> Iterator[Diagnostic]:
    """Yield what is wrong with a platform whose every profile is right by itself; what it lacks causes no finding.

    Args:
        platform: what is known of it.
        today: ISO date that runtimes' last days are compared with; without one none has ended.
    """
    found = (each for check in CHECKS for each in check.run(platform))
    # What a team's profile says wrong is wrong on each of its clusters.
    yield from dict.fromkeys((*found, *ends.check_ends(platform, today)))
