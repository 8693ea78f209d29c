"""One control plane for each ground, started when the first of its tests comes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.e2e.seen import NOT_SHOWABLE, SEEN
from tests.e2e.stage import Ground, Stage, stage
from trainyard_rehearsal.control_plane.build import cache_folder
from trainyard_rehearsal.control_plane.lab import alone


def link_programs(folder: Path) -> None:
    """Make a cache of what is built already, so that nothing waits for another's rehearsal."""
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


@pytest.fixture(scope="session")
def ground(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, _own_cache: None
) -> Iterator[Stage]:
    """Return a control plane; those of the same ground share it."""
    with alone(cache_folder()), stage(request.param, tmp_path_factory.mktemp("tree")) as found:
        yield found


@pytest.hookimpl(
    tryfirst=True
)  # xdist reads the groups in its own hook, and a conftest's comes after that
def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Have one worker make all the tests of a ground: most of them take less than its start."""
    for item in items:
        parameters = (
            item.callspec.params
            if isinstance(item, pytest.Function) and hasattr(item, "callspec")
            else {}
        )
        if isinstance(ground := parameters.get("ground"), Ground):
            item.add_marker(pytest.mark.xdist_group(ground.name))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many rules were seen, when it was tried."""
    ended = {
        how: [_is_seeing(each) for each in reports]
        for how, reports in terminalreporter.stats.items()
    }
    if any(any(each) for each in ended.values()):
        seen = sum(ended.get("passed", []))
        terminalreporter.write_line(
            f"rules seen {seen} of {len(SEEN)}; {len(NOT_SHOWABLE)} can't be shown here"
        )


def _is_seeing(report: object) -> bool:
    return isinstance(report, pytest.TestReport) and "test_consequence_is_seen[" in report.nodeid
