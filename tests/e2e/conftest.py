"""One control plane for each setup, started by the first of its tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.e2e.seen import NOT_SHOWABLE, SEEN
from tests.e2e.setup import GITOPS, NEW, OLD, REALITY, REALITY_OLD, Setup
from tests.e2e.stage import Stage, started
from trainyard.golang import cache_folder
from trainyard_rehearsal.control_plane.lab import alone

_LONGEST = (REALITY, REALITY_OLD, NEW, GITOPS, OLD)
"""Setups whose tests take minutes, the longest first."""


def link_programs(folder: Path) -> None:
    """Link what is already built into a new cache, whose lock no other rehearsal holds."""
    for path in cache_folder().iterdir():
        if path.name not in {"lock", "run"}:
            (folder / path.name).symlink_to(path)


@pytest.fixture(scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("cache")
    link_programs(folder)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TRAINYARD_CACHE", str(folder))
        yield


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a cache of a test's own: a stage of the same worker may hold the usual one's lock."""
    folder = tmp_path / "cache"
    folder.mkdir()
    link_programs(folder)
    monkeypatch.setenv("TRAINYARD_CACHE", str(folder))
    return folder


@pytest.fixture(scope="session")
def stage(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, _own_cache: None
) -> Iterator[Stage]:
    """Return a control plane, which all tests of a setup share."""
    with alone(cache_folder()), started(request.param, tmp_path_factory.mktemp("tree")) as found:
        yield found


# xdist reads the groups in its own hook, which runs before a conftest's by default.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give all tests of a setup to one worker: most take less time than starting it.

    Setups come first, the longest ahead, so that short tests level out what the workers have left.
    A test of both releases is slow on the older one, whose tree a rehearsal tries in full.
    """
    ids = {item.nodeid for item in items}
    for item in items:
        if setup := _setup_of(item):
            item.add_marker(pytest.mark.xdist_group(setup.name))
        if setup is OLD and item.nodeid.replace(OLD.name, NEW.name) in ids:
            item.add_marker(pytest.mark.slow)
    items.sort(key=_place)


def _place(item: pytest.Item) -> int:
    """Return the place of a test's setup in the order of starts; other tests come last."""
    setup = _setup_of(item)
    return _LONGEST.index(setup) if setup in _LONGEST else len(_LONGEST) + (setup is None)


def _setup_of(item: pytest.Item) -> Setup | None:
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    setup = parameters.get("stage")
    return setup if isinstance(setup, Setup) else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Report how many rules were seen, if any was tried."""
    stats = terminalreporter.stats
    if any(_count_seen(reports) for reports in stats.values()):
        seen = _count_seen(stats.get("passed", []))
        terminalreporter.write_line(
            f"rules seen {seen} of {len(SEEN)}; {len(NOT_SHOWABLE)} can't be shown here"
        )
    for reports in stats.values():
        for text in _tables(reports):
            terminalreporter.write_line(text)


def _tables(reports: Sequence[object]) -> Iterator[str]:
    """Yield the figures that tests print for ``docs/proof.md``."""
    for each in reports:
        if isinstance(each, pytest.TestReport) and each.when == "call":
            yield from (str(text) for name, text in each.user_properties if name == "table")


def _count_seen(reports: Sequence[object]) -> int:
    """Return the number of reports about the consequence of a rule."""
    tests = (each.nodeid for each in reports if isinstance(each, pytest.TestReport))
    return sum("test_consequence_is_seen[" in test for test in tests)
