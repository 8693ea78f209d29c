"""A quota for a time is in the tree, so that the owners of the platform approve a later day."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.calls import edit
from trainyard.generation.generate import generate

TEAM, QUOTA = "teams/nlp.yaml", "nodes: 8, borrow: 8"
TIMED = 'nodes: 8, until: "2027-01-31", reason: paper | ours, then: 4, borrow: 8'


def files(profiles: Path) -> Mapping[str, bytes]:
    return generate(profiles, "../profiles/components", ("prod-east",), "2026-11-21").files


def changed(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> set[str]:
    return {path for path in before if before[path] != after[path]}


@pytest.mark.parametrize(
    ("old", "new"),
    [("2027-01-31", "2037-01-31"), ("paper", "forever"), ("then: 4", "then: 5")],
)
def test_longer_quota_changes_two_pages(profiles: Path, old: str, new: str) -> None:
    untimed = files(profiles)
    edit(profiles / TEAM, QUOTA, TIMED)
    timed = files(profiles)
    edit(profiles / TEAM, old, new)
    longer = files(profiles)
    edit(profiles / TEAM, new, old)

    pages = {f"prod-east/{path}" for path in ("README.md", "samples/nlp/README.md")}
    assert changed(untimed, timed) == pages
    assert changed(timed, longer) == pages
    assert files(profiles) == timed


def test_page_shows_the_day_and_what_follows(profiles: Path) -> None:
    edit(profiles / TEAM, QUOTA, TIMED)
    page = files(profiles)["prod-east/README.md"].decode()

    ending = r"until 2027-01-31 (paper \| ours), then 4 nodes"
    assert f"- Queue `gpu` has 8 nodes of dgx-h100 {ending}, may borrow 8 and lends 8." in page


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("contact:", 'owners: ["@ml-example/nlp"]\ncontact:'),
        ("contact:", "encryptionInTransit: false\ncontact:"),
    ],
)
def test_keys_that_change_no_file_of_the_tree(profiles: Path, old: str, new: str) -> None:
    """`decide-who-approves.md` lists them: no owner of the platform approves these alone."""
    before = files(profiles)
    edit(profiles / TEAM, old, new)

    assert files(profiles) == before
