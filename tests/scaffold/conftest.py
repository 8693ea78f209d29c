from __future__ import annotations

from pathlib import Path

import pytest

from trainyard.scaffold.init import init


@pytest.fixture
def profiles(tmp_path: Path) -> Path:
    """The profiles of a new repository."""
    init(tmp_path / "repository")
    return tmp_path / "repository" / "profiles"
