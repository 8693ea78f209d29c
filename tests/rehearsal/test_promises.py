"""Each line of the table has its explanation."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import trainyard_rehearsal
from trainyard_rehearsal.checks.sampling import _TRIED_FOR_ALL
from trainyard_rehearsal.promises import APPLIED, DELIVERED, UPGRADED

CALLS = {"counted", "outcome", "Outcome", "Trial"}
"""Functions whose first argument is a promise."""


def _strings() -> Iterator[tuple[str, bool]]:
    """Yield each string of the checks, and whether a call uses it as a promise."""
    for path in Path(trainyard_rehearsal.__path__[0], "checks").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and node.args and _name(node.func) in CALLS:
                for each in ast.walk(node.args[0]):
                    if isinstance(each, ast.Constant):
                        yield str(each.value), True
            if isinstance(node, ast.Constant):
                yield str(node.value), False


def _name(function: ast.expr) -> str:
    return getattr(function, "attr", getattr(function, "id", ""))


def test_every_promise_is_explained_and_every_explanation_is_of_one() -> None:
    explained = {*APPLIED, *DELIVERED, *UPGRADED}
    strings = set(_strings())

    assert {text for text, is_promise in strings if is_promise} <= explained
    assert explained <= {text for text, _ in strings}
    assert explained >= _TRIED_FOR_ALL
    assert len(explained) == len(APPLIED) + len(DELIVERED) + len(UPGRADED)
