"""Repositories with committed trees."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import pytest

from tests.changes.program import (
    EXAMPLES,
    Day,
    Remembered,
    accept,
    build,
    checked_from,
    make,
    no_tool,
    rendered_from,
)
from tests.changes.repository import Repository
from trainyard.cli import options
from trainyard.generation import generate as generation
from trainyard.tree import tree as committed_files
from trainyard.workflows import committed as committed_tree
from trainyard.workflows import generate
from trainyard.workflows import verify as verification
from trainyard.yaml_io.manifests import parse_manifests

_FILES = 4096
"""Parsed files that are kept: those of all examples, before and after an edit."""


@pytest.fixture(scope="package", autouse=True)
def without_programs() -> Iterator[None]:
    """Replace the programs of `verify` and the date; check, generate and parse the same once."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("find_kustomize", "find_kubeconform"):
            patch.setattr(verification, name, no_tool)
        patch.setattr(verification, "build", build)
        patch.setattr(verification, "validate", accept)
        patch.setattr(options, "date", Day)
        rendered = Remembered(generation.render, rendered_from)
        for room in (generate, generation):
            patch.setattr(room, "render", rendered)
        patch.setattr(generation, "check_loaded", Remembered(generation.check_loaded, checked_from))
        parsed = lru_cache(_FILES)(parse_manifests)
        for room in (committed_tree, committed_files):
            patch.setattr(room, "parse_manifests", parsed)
        yield


@pytest.fixture(scope="package")
def committed(seed: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Repository]:
    """Every example with its committed tree."""
    root = tmp_path_factory.mktemp("changes")
    return {name: make(root / name, name, f"{name}, --seed {seed}") for name in EXAMPLES}


@pytest.fixture
def examples(committed: dict[str, Repository]) -> dict[str, Repository]:
    """Every example, reset to its committed state."""
    for each in committed.values():
        each.reset()
    return committed
