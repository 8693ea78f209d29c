"""A repository in the current folder, and the command line called inside this process."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calls import REPOSITORY, Ended
from trainyard.cli.main import run


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clear the variables that a developer may have set."""
    for variable in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def repository(here: Path, profiles: Path) -> Path:
    """A current folder with a copy of this repository's profiles, and no tree yet."""
    assert profiles.parent == here
    return here


@pytest.fixture
def trainyard(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """Call the command line."""

    def call(*args: str) -> Ended:
        capsys.readouterr()
        code = run(args)
        printed = capsys.readouterr()
        return Ended(code, printed.out, printed.err)

    return call


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree of this repository's profiles, which no test may change."""
    folder = tmp_path_factory.mktemp("written")
    shutil.copytree(REPOSITORY / "profiles", folder / "profiles")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert run(["generate"]) == 0
    return folder / "overlays"


@pytest.fixture
def tree(repository: Path, written: Path) -> Path:
    """The repository with its tree written."""
    shutil.copytree(written, repository / "overlays")
    return repository


@pytest.fixture
def broken(here: Path) -> Path:
    """A repository whose only profile has one mistake."""
    (here / "profiles").mkdir()
    text = (
        "format: 1\ndomain: ml.example.com\nrepository: https://git.example.com/x.git\nbrunch: "
        "main\n"
    )
    (here / "profiles" / "trainyard.yaml").write_text(text, encoding="utf-8")
    return here
