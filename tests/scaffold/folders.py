"""Folders of new repositories, and their content."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from trainyard.cli.options import PRESETS, RELEASES
from trainyard.workflows.begin import ClusterWanted, begin

RELEASE, PRESET = "openshift-ai-3.5", "nvidia-dgx-h100"


def pairs_of_release_and_preset() -> list[object]:
    """Return every pair as parameters of a test, most of them for `make thorough` alone.

    The others have each preset once, and each release about as often as another.
    """
    rarely = (pytest.mark.thorough, pytest.mark.slow)
    return [
        pytest.param(release, preset, marks=() if at % len(RELEASES) == turn else rarely)
        for (turn, release), (at, preset) in product(enumerate(RELEASES), enumerate(PRESETS))
    ]


def content(folder: Path) -> dict[str, bytes | None]:
    """Return every path below a folder, with the bytes of the files."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def begun(folder: Path, release: str = RELEASE, preset: str = PRESET, nodes: int = 5) -> list[Path]:
    """Begin a repository in a folder; return the files written."""
    return list(begin(folder, "overlays", ClusterWanted(release, preset, nodes)))
