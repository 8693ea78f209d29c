"""The one switch of the tests: `--update-golden` rewrites what is committed, to be read before it is committed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the switch."""
    parser.addoption("--update-golden", action="store_true", help="rewrite golden files instead of comparing them")


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Tell whether golden files are rewritten."""
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture
def profiles(tmp_path: Path) -> Path:
    """Return a copy of this repository's profiles that a test may change."""
    folder = tmp_path / "profiles"
    shutil.copytree(REPOSITORY / "profiles", folder)
    return folder
