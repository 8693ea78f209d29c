"""The committed tree of this repository is the golden tree of its profiles."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainyard.diagnostics import Severity
from trainyard.generation.generate import generate
from trainyard.tree.disk import DiskTree
from trainyard.tree.write import write

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("home", [REPOSITORY], ids=["repository"])
def test_tree_is_what_the_profiles_make(home: Path, update_golden: bool) -> None:
    """Every committed byte follows from the profiles; read the diff before it is committed."""
    generation = generate(home / "profiles", "../profiles/components", today="2026-11-21")
    if update_golden:
        write(home / "overlays", generation.files)

    assert [d for d in generation.diagnostics if d.severity is Severity.ERROR] == []
    assert DiskTree(home / "overlays").compare(generation.files).count == 0
