from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A tree's place inside a parent that holds nothing else."""
    return tmp_path / "overlays"
