"""The pages of a cluster name no file that its tree lacks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "overlays").glob("**/*.md"))
_FILE = re.compile(r"(?<![\w./-])(?:overlays/[a-z0-9-]+/)?([a-z-]+/[\w.-]+\.(?:conf|md|yaml))\b")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_named_files_are_in_the_tree(page: Path) -> None:
    """A command with another name would fail for who follows the page."""
    cluster = ROOT / "overlays" / page.relative_to(ROOT / "overlays").parts[0]
    parts = {each.name for each in cluster.iterdir() if each.is_dir()}
    named = {each for each in _FILE.findall(page.read_text("utf-8")) if each.split("/")[0] in parts}
    assert {each for each in named if not (cluster / each).is_file()} == set()


def test_files_are_found_in_commands() -> None:
    found = set().union(*(_FILE.findall(page.read_text("utf-8")) for page in PAGES))
    assert {"operators/audit-policy.yaml", "monitoring/job-states.yaml"} <= found
