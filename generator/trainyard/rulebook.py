"""Every rule that Trainyard knows, and which stage finds it."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

from trainyard.diagnostics import Rule
from trainyard.rules.check import RULES


def all_rules() -> tuple[Rule, ...]:
    """Return every rule by its id."""
    return RULES


def rules_found_by(room: ModuleType) -> frozenset[Rule]:
    """Return the rules that a module names, or any module of a package."""
    below = walk_packages(getattr(room, "__path__", ()), f"{room.__name__}.")
    modules = (room, *(import_module(each.name) for each in below))
    return frozenset(
        value for module in modules for value in vars(module).values() if isinstance(value, Rule)
    )
