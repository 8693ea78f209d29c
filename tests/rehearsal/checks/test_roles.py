"""The page that explains the roles says what they are measured against."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

from trainyard_rehearsal.checks.roles import rights, tried_rights

_PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "isolation.md"
_ROLES = ("admin", "auditor", "catalog viewer", "clean-up", "operator", "user", "viewer")


def test_the_page_shows_the_table() -> None:
    rows = re.findall(
        r"^\| ([a-z, -]+) \| ([a-z, ]+) \| (`.*`) \|$",
        _PAGE.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    told = {
        cell
        for roles, verbs, names in rows
        for cell in product(roles.split(", "), verbs.split(", "), re.findall(r"`([^`]+)`", names))
    }
    assert told == {(role, verb, name) for role in _ROLES for verb, (_, name) in rights(role)}


def test_every_right_is_a_cell_that_is_tried() -> None:
    assert not {each for role in _ROLES for each in rights(role)} - tried_rights()
