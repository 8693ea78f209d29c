from __future__ import annotations

from pathlib import Path

import pytest

from tests.scaffold.folders import begun


@pytest.fixture
def profiles(tmp_path: Path) -> Path:
    """The profiles of a new repository."""
    begun(tmp_path / "repository")
    return tmp_path / "repository" / "profiles"
