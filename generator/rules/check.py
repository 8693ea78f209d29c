"""All families in order: the whole of this stage."""

from __future__ import annotations

from collections.abc import Iterator

from generator.diagnostics import Diagnostic
from generator.model.platform import Platform
from generator.rules import (
    access,
    addresses,
    capacity,
    cohorts,
    delivery,
    external,
    isolation,
    jobs,
    labels,
    names,
    node,
    partitions,
    rails,
    release,
    runtime,
    scheduling,
)

FAMILIES = (
    names,
    external,
    capacity,
    jobs,
    cohorts,
    scheduling,
    partitions,
    addresses,
    rails,
    access,
    isolation,
    runtime,
    node,
    labels,
    delivery,
    release,
)
CHECKS = tuple(check for family in FAMILIES for check in family.CHECKS)
RULES = tuple(check.rule for check in CHECKS)


def check_meaning(platform: Platform) -> Iterator[Diagnostic]:
    """Yield what is wrong with a platform whose every profile is right by itself."""
    for check in CHECKS:
        yield from check.find(platform)
