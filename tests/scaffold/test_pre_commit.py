"""The hooks of `.pre-commit-hooks.yaml`, run by pre-commit itself on a commit."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import yaml

from tests.conftest import REPOSITORY
from tests.pages import done

pytestmark = pytest.mark.thorough

PRE_COMMIT = Path(sys.executable).parent / "pre-commit"
_ROLES = ("AUTHOR", "COMMITTER")
_SOURCES = (
    *("generator/trainyard", "templates/", "docs/users/"),
    *("pyproject.toml", "README.md", "LICENSE", ".pre-"),
)
HOOKS = yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text("utf-8"))


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """pip installs Trainyard from its sources, with the libraries that are here: no registry."""
    return {
        **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
        **{f"GIT_{role}_NAME": "x" for role in _ROLES},
        **{f"GIT_{role}_EMAIL": "x@example.com" for role in _ROLES},
        "HOME": str(tmp_path),
        "PIP_NO_BUILD_ISOLATION": "0",
        "PIP_NO_DEPS": "1",
        "PIP_NO_INDEX": "1",
        "PRE_COMMIT_HOME": str(tmp_path / "cache"),
        "PYTHONPATH": sysconfig.get_path("purelib"),
    }


@pytest.fixture
def repository(tmp_path: Path, environment: dict[str, str]) -> Path:
    """A platform with a committed tree that uses the hooks of this work tree."""
    source, folder = tmp_path / "source", tmp_path / "platform"
    source.mkdir()
    files = done(REPOSITORY, "git", "ls-files", "-co", "--exclude-standard", "-z").split("\0")
    for file in (each for each in files if each.startswith(_SOURCES)):
        (source / file).parent.mkdir(parents=True, exist_ok=True)
        (source / file).write_bytes((REPOSITORY / file).read_bytes())
    _commit(source, environment)
    folder.mkdir()
    for arguments in (["init"], ["add", "team", "nlp"], ["generate"]):
        done(folder, "trainyard", *arguments)
    revision = done(source, "git", "rev-parse", "HEAD").strip()
    hooks = [{"id": each["id"]} for each in HOOKS]
    config = {"repos": [{"repo": str(source), "rev": revision, "hooks": hooks}]}
    (folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    _commit(folder, environment)
    return folder


def _commit(folder: Path, environment: dict[str, str]) -> None:
    for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "x"]):
        subprocess.run(["git", *command], cwd=folder, env=environment, check=True)


def _hooks(folder: Path, environment: dict[str, str]) -> dict[str, str]:
    """Return the state of each hook after pre-commit ran on what is staged."""
    subprocess.run(["git", "add", "--all"], cwd=folder, env=environment, check=True)
    ran = subprocess.run(
        [PRE_COMMIT, "run", "--color", "never", "--verbose"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    states = {}
    for hook in HOOKS:
        (line,) = (each for each in ran.stdout.splitlines() if each.startswith(f"{hook['name']}.."))
        states[hook["id"]] = line.rpartition(".")[2]
    assert (ran.returncode == 0) == (set(states.values()) == {"Passed"}), ran.stdout + ran.stderr
    return states


def test_hooks_see_what_a_commit_would_break(repository: Path, environment: dict[str, str]) -> None:
    """A change without its tree, then with it; a deleted profile; another style; a wrong value."""
    good = dict.fromkeys((each["id"] for each in HOOKS), "Passed")
    team = repository / "profiles" / "teams" / "nlp.yaml"
    text = team.read_text("utf-8")
    assert _hooks(repository, environment) == good

    team.write_text(text.replace("nodes: 2", "nodes: 3"), encoding="utf-8")
    assert _hooks(repository, environment) == {**good, "trainyard-generate": "Failed"}
    assert _hooks(repository, environment) == good

    team.write_text(text.replace("nodes: 2", "nodes:   3"), encoding="utf-8")
    assert _hooks(repository, environment) == {**good, "trainyard-fmt": "Failed"}

    team.write_text(text.replace("nodes: 2", "nodes: 99"), encoding="utf-8")
    broken = _hooks(repository, environment)
    assert (broken["trainyard-validate"], broken["trainyard-generate"]) == ("Failed", "Failed")

    team.unlink()
    assert _hooks(repository, environment)["trainyard-generate"] == "Failed"
