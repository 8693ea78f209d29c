"""All rules of this stage: one module each, `<family>/<rule>.py`, found by its place."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from operator import attrgetter
from pkgutil import walk_packages

from trainyard import rules
from trainyard.diagnostics import Diagnostic
from trainyard.model.platform import Platform
from trainyard.rules import ends
from trainyard.rules._check import Check


def _checks() -> Iterator[Check]:
    """Yield the check of every module that is two levels down."""
    for module in walk_packages(rules.__path__, f"{rules.__name__}."):
        _, _, name = module.name.rpartition(".")
        if module.name.count(".") == 3 and not name.startswith("_"):
            yield import_module(module.name).CHECK


CHECKS = tuple(sorted(_checks(), key=attrgetter("rule.id")))
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
