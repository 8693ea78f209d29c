"""The one switch of the tests: `--update-golden` rewrites what is committed, to be read before it is committed."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine is no failure; and a change is judged in CI by the same examples each time, at home by new ones.
settings.register_profile("trainyard", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("trainyard")

REPOSITORY = Path(__file__).resolve().parents[1]


def pytest_configure() -> None:
    """Have Ctrl-C mean what it means in a terminal: whoever is started in the background ignores it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


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


@pytest.fixture
def signals() -> Iterator[None]:
    """Put the handlers of this process back after a test in which the command took them for itself."""
    kinds = (signal.SIGINT, signal.SIGALRM)
    before, hook = {kind: signal.getsignal(kind) for kind in kinds}, sys.unraisablehook
    yield
    for kind, handler in before.items():
        signal.signal(kind, handler)
    sys.unraisablehook = hook
