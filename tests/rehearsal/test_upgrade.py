"""What is not an upgrade to rehearse; nothing is started then."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.histories import History
from trainyard.cli.main import run

pytestmark = pytest.mark.thorough


@pytest.fixture
def history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> History:
    """A committed platform, and a cache without programs."""
    monkeypatch.setattr("signal.signal", lambda _number, _handler: None)
    monkeypatch.setenv("TRAINYARD_CACHE", str(tmp_path / "cache"))
    (tmp_path / "platform").mkdir()
    monkeypatch.chdir(tmp_path / "platform")
    begun = History(tmp_path / "platform", capsys)
    assert begun.trainyard("init", "--release", "kubernetes-1.35")[0] == 0
    begun.git("init", "--quiet")
    begun.add("nlp")
    begun.commit()
    return begun


def _rehearse(history: History, ref: str, *options: str) -> tuple[int, str]:
    """Return the exit code, and what went to stderr."""
    history.capsys.readouterr()
    code = run(["rehearse", "--upgrade-from", ref, *options])
    return code, history.capsys.readouterr().err


def _upgrade(history: History, release: str) -> None:
    code, out = history.trainyard("upgrade", "lab", "--to", release, "--write")
    assert code == 0, out
    history.commit()


def test_same_releases_are_no_upgrade(history: History) -> None:
    code, words = _rehearse(history, "HEAD")
    assert code == 3
    assert "every cluster has the release that it has in HEAD; name the commit before" in words


def test_way_that_the_plan_calls_impossible_is_not_tried(history: History) -> None:
    _upgrade(history, "kubernetes-1.34")
    code, words = _rehearse(history, "HEAD~1")
    assert code == 3
    assert "lab can't be upgraded in place: kubernetes: " in words


def test_cluster_must_not_be_drained_at_the_beginning(history: History) -> None:
    history.write("clusters/lab.yaml", lambda text: f"state: draining\n{text}")
    history.commit()
    _upgrade(history, "kubernetes-1.36")
    code, words = _rehearse(history, "HEAD~1")
    assert code == 5
    assert "lab is draining in commit" in words
    assert "name the commit before that" in words


def test_missing_programs_name_the_command(history: History) -> None:
    _upgrade(history, "kubernetes-1.36")
    code, words = _rehearse(history, "HEAD~1")
    assert code == 4
    assert "is not built yet; run `trainyard rehearse --build" in words


@pytest.mark.parametrize("options", [("--on", "kind"), ("--keep",)])
def test_only_processes_are_exchanged(history: History, options: tuple[str, ...]) -> None:
    code, words = _rehearse(history, "HEAD", *options)
    assert code == 2
    assert "`--upgrade-from` exchanges processes" in words


def test_unknown_commit_is_named(history: History) -> None:
    code, words = _rehearse(history, "no-such")
    assert code == 5
    assert "no-such" in words
