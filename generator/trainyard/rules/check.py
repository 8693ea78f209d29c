"""All rules, found by their place: ``<family>/<rule>.py``; and the checks of this stage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from itertools import chain, groupby
from operator import attrgetter
from pkgutil import walk_packages
from types import ModuleType

from trainyard import rules
from trainyard.diagnostics import Diagnostic, Rule
from trainyard.model.platform import Platform
from trainyard.rules._check import Check, DatedCheck, LiveCheck


def _modules() -> Iterator[ModuleType]:
    """Yield every module two levels down: a rule's text, and its check if it has one."""
    for module in walk_packages(rules.__path__, f"{rules.__name__}."):
        _, _, name = module.name.rpartition(".")
        if module.name.count(".") == 3 and not name.startswith("_"):
            yield import_module(module.name)


_MODULES = tuple(_modules())
RULES: tuple[Rule, ...] = tuple(sorted((module.RULE for module in _MODULES), key=attrgetter("id")))
"""Every rule by its id, whichever stage finds it."""
CHECKS: tuple[Check | DatedCheck, ...] = tuple(
    sorted(
        (module.CHECK for module in _MODULES if hasattr(module, "CHECK")),
        key=attrgetter("rule.id"),
    )
)
LIVE_CHECKS: tuple[LiveCheck, ...] = tuple(
    sorted(
        (module.LIVE for module in _MODULES if hasattr(module, "LIVE")),
        key=attrgetter("rule.id"),
    )
)
"""The checks of a cluster that runs."""
FAMILIES: Mapping[str, tuple[Check | DatedCheck, ...]] = {
    family: tuple(checks)
    for family, checks in groupby(CHECKS, key=lambda check: check.rule.id.partition("/")[0])
}
"""The checks of each family, in their order."""


def check_family(family: str, platform: Platform, today: str) -> tuple[Diagnostic, ...]:
    """Return the findings of the rules of a family; the other arguments as `check_meaning`'s."""
    return tuple(chain.from_iterable(check.run(platform, today) for check in FAMILIES[family]))


def check_meaning(platform: Platform, today: str = "") -> Iterator[Diagnostic]:
    """Yield the findings of all rules; profiles that are left out cause none.

    Args:
        platform: built from profiles that are right in shape.
        today: ISO date that the last days of runtimes are compared with; when empty, no runtime
            has ended.
    """
    # A mistake in a team's profile is found on each of its clusters, and reported once.
    yield from dict.fromkeys(
        chain.from_iterable(check_family(family, platform, today) for family in FAMILIES)
    )
