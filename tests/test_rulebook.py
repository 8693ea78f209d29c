"""The list of all rules."""

from __future__ import annotations

import importlib
import pkgutil
import re

import trainyard
from trainyard.diagnostics import Rule
from trainyard.rulebook import all_rules

RULES = all_rules()
FAMILIES = "shape|names|references|capacity|scheduling|fabric|access|isolation|runtime|node|delivery|change|release|monitoring|preflight"  # noqa: E501 - one value


def test_id_of_a_rule_is_the_path_of_its_text() -> None:
    """Whoever has the id opens the file; no other module has a rule of its own."""
    names = (module.name for module in pkgutil.walk_packages(trainyard.__path__, "trainyard."))
    modules = [importlib.import_module(name) for name in names if not name.endswith("__main__")]
    found = {
        each: module.__name__
        for module in modules
        for name, each in vars(module).items()
        if isinstance(each, Rule) and name == "RULE"
    }
    named = {each for module in modules for each in vars(module).values() if isinstance(each, Rule)}

    assert {f"trainyard.rules.{rule.id}".replace("/", ".").replace("-", "_") for rule in RULES} == {
        *found.values()
    }
    assert named == {*found} == {*RULES}


def test_ids_are_unique_and_of_a_known_family() -> None:
    """An id is ``family/bad-pattern`` and stands for one rule, in the order of the ids."""
    ids = [rule.id for rule in RULES]

    assert ids == sorted(set(ids))
    assert [
        each for each in ids if not re.fullmatch(f"({FAMILIES})/[a-z]+(-[a-z0-9]+)*", each)
    ] == []


def test_every_rule_says_what_why_and_how() -> None:
    """No rule leaves the user alone."""
    assert [rule.id for rule in RULES if not (rule.summary and rule.why and rule.fix)] == []
