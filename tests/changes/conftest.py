"""Repositories with committed trees."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.changes.program import EXAMPLES, Day, Remembered, accept, build, make, no_tool
from tests.changes.repository import Repository
from trainyard.cli import options
from trainyard.cli.commands import generate as command
from trainyard.workflows import generate as workflow
from trainyard.workflows import report
from trainyard.workflows import verify as verification


@pytest.fixture(scope="package", autouse=True)
def without_programs() -> Iterator[None]:
    """Replace the programs of `verify` and the date, and generate equal trees once."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("find_kustomize", "find_kubeconform"):
            patch.setattr(verification, name, no_tool)
            patch.setattr(report, name, no_tool)
        patch.setattr(verification, "build", build)
        patch.setattr(verification, "validate", accept)
        patch.setattr(options, "date", Day)
        remembered = Remembered()
        for room in (command, verification, workflow):
            patch.setattr(room, "render", remembered)
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
