"""Switches of the tests: `--update-golden` rewrites what is committed; `--edits` and `--seed` steer
`tests/changes`."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test, settings

from tests.histories import History, begin

# A busy machine is not a failure. CI judges a change by the same examples each time.
settings.register_profile("thorough", deadline=None, derandomize="CI" in os.environ)
settings.register_profile("quick", settings.get_profile("thorough"), max_examples=20)

REPOSITORY = Path(__file__).resolve().parents[1]


def pytest_configure(config: pytest.Config) -> None:
    """Set how many examples a property has, and have Ctrl-C interrupt the tests.

    A shell starts a background process so that it ignores Ctrl-C. No test believes an earlier run.
    """
    os.environ["TRAINYARD_FORGET"] = "1"
    settings.load_profile("thorough" if config.getoption("--thorough") else "quick")
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the quick tests, or with ``--thorough`` the others and every property.

    With ``--update-golden`` only those are kept that write: another may fail until all is written.
    """
    thorough, update = config.getoption("--thorough"), config.getoption("--update-golden")
    kept: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        is_marked = item.get_closest_marker("thorough") is not None
        is_property = is_hypothesis_test(getattr(item, "obj", None))
        if is_property and not is_marked:
            item.add_marker("property")
        is_wanted = is_marked or is_property if thorough else not is_marked
        if update:
            is_wanted = is_wanted and "update_golden" in getattr(item, "fixturenames", ())
        (kept if is_wanted or item.get_closest_marker("e2e") else left).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the switches."""
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite golden files instead of comparing them",
    )
    parser.addoption(
        "--thorough",
        action="store_true",
        help="run the tests that take more than a second, and properties with all their examples",
    )
    parser.addoption(
        "--edits",
        type=int,
        default=40,
        help="how many random edits of profiles follow those of each key",
    )
    parser.addoption(
        "--attacks",
        type=int,
        default=50,
        help="how many sequences of hostile requests a Kueue is given",
    )
    parser.addoption(
        "--pairs",
        type=int,
        default=12,
        help="how many random jobs `fit` and the controllers judge",
    )
    parser.addoption(
        "--changes",
        type=int,
        default=12,
        help="how many random changes Argo CD delivers to a cluster",
    )
    parser.addoption(
        "--seed",
        help="what random edits depend on: the same for the same edits; 0 in CI, else by chance",
    )


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Tell whether golden files are rewritten."""
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture
def edits(request: pytest.FixtureRequest) -> int:
    """Return how many random edits of profiles are tried."""
    return int(request.config.getoption("--edits"))


@pytest.fixture(scope="session")
def pairs(request: pytest.FixtureRequest) -> int:
    """Return how many random jobs are judged twice."""
    return int(request.config.getoption("--pairs"))


@pytest.fixture(scope="session")
def attacks(request: pytest.FixtureRequest) -> int:
    """Return how many sequences of hostile requests are tried on each control plane."""
    return int(request.config.getoption("--attacks"))


@pytest.fixture(scope="session")
def changes(request: pytest.FixtureRequest) -> int:
    """Return how many random changes are compared with what `diff` says."""
    return int(request.config.getoption("--changes"))


@pytest.fixture(scope="session")
def seed(request: pytest.FixtureRequest) -> str:
    """Return what random edits of profiles depend on: a change is judged in CI by the same edits
    each time."""
    return str(
        request.config.getoption("--seed")
        or (0 if "CI" in os.environ else secrets.randbelow(10**9))
    )


@pytest.fixture
def profiles(tmp_path: Path) -> Path:
    """Return a copy of this repository's profiles that a test may change."""
    folder = tmp_path / "profiles"
    shutil.copytree(REPOSITORY / "profiles", folder)
    return folder


@pytest.fixture
def signals() -> Iterator[None]:
    """Put the handlers of this process back after a test in which the command took them for
    itself."""
    kinds = (signal.SIGINT, signal.SIGALRM)
    before, hook = {kind: signal.getsignal(kind) for kind in kinds}, sys.unraisablehook
    yield
    for kind, handler in before.items():
        signal.signal(kind, handler)
    sys.unraisablehook = hook


@pytest.fixture
def history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> History:
    """A new repository in the current folder with two teams, whose tree is committed."""
    monkeypatch.chdir(tmp_path)
    return begin(tmp_path, capsys)
