"""All rules of this stage, found by their place: ``<family>/<rule>.py``."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from operator import attrgetter
from pkgutil import walk_packages

from trainyard import rules
from trainyard.diagnostics import Diagnostic
from trainyard.model.platform import Platform
from trainyard.rules._check import Check, DatedCheck


def _checks() -> Iterator[Check | DatedCheck]:
    """Yield the check of every module that is two levels down."""
    for module in walk_packages(rules.__path__, f"{rules.__name__}."):
        _, _, name = module.name.rpartition(".")
        if module.name.count(".") == 3 and not name.startswith("_"):
            yield import_module(module.name).CHECK


CHECKS = tuple(sorted(_checks(), key=attrgetter("rule.id")))
RULES = tuple(check.rule for check in CHECKS)


def check_meaning(platform: Platform, today: str = "") -> Iterator[Diagnostic]:
    """Yield the findings of all rules; profiles that are left out cause none.

    Args:
        platform: built from profiles that are right in shape.
        today: ISO date that the last days of runtimes are compared with; when empty, no runtime
            has ended.
    """
    found = (each for check in CHECKS for each in check.run(platform, today))
    # A mistake in a team's profile is found on each of its clusters, and reported once.
    yield from dict.fromkeys(found)
