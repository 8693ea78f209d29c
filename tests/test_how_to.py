"""The tutorial and every how-to, followed by a newcomer in a Git repository with a committed tree,
and taken back.

Convention: a block marked ``shell`` is executed, line by line, and every line must end with 0, or
with 1 after ``!``. A ``console`` block below it shows lines that it prints, in their order; one
that begins with ``$`` needs a cluster and is only shown. A page says from which repository it
starts. Where it commits changes, it says whether `generate` accepts the revert of their profiles.
Where it does not, a revert of the tree as well passes it, and the comparison with the base branch
reports the same.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.pages import BLOCK, HOW_TOS, ROOT, TUTORIAL, blocks, call, done, shell_blocks, type_page
from trainyard.rulebook import all_rules
from trainyard.scaffold.template import static_files

pytestmark = pytest.mark.thorough

_START = re.compile(
    r"This page starts from (?:(this repository)|the repository that `trainyard init(?: --release ([a-z0-9.-]+))?` writes, with team `([a-z]+)`)\."  # noqa: E501 - one value
)
_REVERT = re.compile(r"`trainyard generate` (accepts|refuses) the revert")
_RULE = re.compile(r"\[`([a-z]+/[a-z0-9-]+)`\]")
_CI = (".github", ".gitlab", ".gitlab-ci.yml", ".tekton")
_PAGES = pytest.mark.parametrize("page", HOW_TOS, ids=lambda page: page.stem)


@pytest.fixture(scope="session")
def this_repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This repository's profiles and tree, as a repository that a site has."""
    folder = tmp_path_factory.mktemp("this")
    for part in ("profiles", "overlays"):
        shutil.copytree(ROOT / part, folder / part)
    for name, body in static_files().items():
        if "/" not in name:
            (folder / name).write_bytes(body)
    return _committed(folder)


@pytest.fixture(scope="session")
def new_repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `init` writes, with one team."""
    return _begun(tmp_path_factory.mktemp("new"))


def _begun(folder: Path, *options: str) -> Path:
    done(folder, "trainyard", "init", *options)
    done(folder, "trainyard", "add", "team", "nlp", "--nodes", "2")
    done(folder, "trainyard", "generate")
    return _committed(folder)


def _committed(folder: Path) -> Path:
    done(folder, "git", "init", "--quiet", "--initial-branch", "main")
    _commit(folder, "The platform")
    return folder


def _start(page: Path) -> re.Match[str]:
    found = _START.search(page.read_text("utf-8"))
    assert found, f"{page.name} does not say from which repository it starts"
    return found


@_PAGES
def test_how_to_is_laid_out(page: Path) -> None:
    """What you need comes first, and what to do when it fails comes last."""
    text = page.read_text("utf-8")
    headings = re.findall(r"^## (.+)$", BLOCK.sub("", text), re.MULTILINE)
    _, _, before = text.partition("\n## Before you start\n")

    assert (headings[0], headings[-1]) == ("Before you start", "If it fails")
    assert _START.search(before.partition("\n## ")[0])
    assert shell_blocks(page)


@_PAGES
def test_how_to_names_rules_that_exist(page: Path) -> None:
    """Whoever looks a finding up finds it."""
    rules = {rule.id for rule in all_rules()}
    families = "|".join({rule.partition("/")[0] for rule in rules})

    assert set(re.findall(rf"`((?:{families})/[a-z0-9-]+)`", page.read_text("utf-8"))) <= rules


def test_tutorial_runs(tmp_path: Path) -> None:
    """The tutorial's commands, typed one after the other into an empty folder, do what it says."""
    assert len(shell_blocks(TUTORIAL)) > 5
    type_page(TUTORIAL, tmp_path)
    repository = tmp_path / "ml-platform"
    assert done(repository, "git", "status", "--porcelain") == ""
    done(repository, "trainyard", "generate", "--check")


@_PAGES
def test_how_to_runs(page: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """A page does what it says over a committed tree, touches nothing else, and so does its
    revert."""
    this, release, team = _start(page).groups()
    assert this or team == "nlp"
    if release:
        (tmp_path / "origin").mkdir()
        origin = _begun(tmp_path / "origin", "--release", release)
    else:
        origin = request.getfixturevalue("this_repository" if this else "new_repository")
    folder = tmp_path / "repository"
    done(tmp_path, "git", "clone", "--quiet", str(origin), str(folder))
    type_page(page, folder)

    changed = {
        line[3:].partition("/")[0]
        for line in done(folder, "git", "status", "--porcelain").splitlines()
    }
    assert changed <= {"profiles", "overlays", "adoption", *_CI}
    done(folder, "trainyard", "generate", "--check")
    if changed:
        _commit(folder, "What the page ends with")
    if done(folder, "git", "rev-list", "origin/main..HEAD"):
        _take_back(page, folder)


def _take_back(page: Path, folder: Path) -> None:
    """Revert the profiles of each commit of a page, newest first, over the tree that it left; as
    the page says."""
    _, _, said = page.read_text("utf-8").partition("\n## Undo it\n")
    said = said.partition("\n## ")[0]
    found = _REVERT.search(said)
    assert found, f"{page.name} does not say what a revert does"
    refused: set[str] = set()
    for commit in done(folder, "git", "rev-list", "origin/main..HEAD").split():
        done(
            folder,
            "git",
            "restore",
            "--source",
            f"{commit}~1",
            "--staged",
            "--worktree",
            "profiles",
        )
        ended = call(folder, "trainyard", "generate")
        if ended.returncode:
            assert ended.returncode == 1, ended.stdout
            assert done(folder, "git", "status", "--porcelain", "--", "overlays") == ""
            refused.update(_rules(ended.stdout))
            assert _reported_by_base(folder, commit) == refused
            break
        done(folder, "trainyard", "generate", "--check")
        _commit(folder, f"Revert {commit}")
    assert refused == set(_RULE.findall(said))
    assert bool(refused) == (found[1] == "refuses")


def _rules(printed: str) -> set[str]:
    return set(re.findall(r"^error\[(.+?)\]", printed, re.MULTILINE))


def _reported_by_base(folder: Path, commit: str) -> set[str]:
    """Take a commit back, tree and profiles together, and return what the comparison with the base
    branch reports."""
    done(folder, "git", "reset", "--quiet", "--hard")
    done(folder, "git", "worktree", "add", "--quiet", "--detach", "../base", "HEAD")
    done(folder, "git", "restore", "--source", f"{commit}~1", "--staged", "--worktree", ".")
    done(folder, "trainyard", "generate", "--check")
    ended = call(folder, "trainyard", "generate", "--dry-run", "--output", "../base/overlays")
    assert ended.returncode == 1, ended.stdout
    return _rules(ended.stdout)


def test_ci_block_reports_a_reverted_team(new_repository: Path, tmp_path: Path) -> None:
    """After `git revert` of `add team` every check of the pull request passes, but for that with
    the base branch."""
    origin, folder = tmp_path / "origin", tmp_path / "repository"
    done(tmp_path, "git", "clone", "--quiet", str(new_repository), str(origin))
    done(origin, "trainyard", "add", "team", "audio", "--nodes", "2")
    done(origin, "trainyard", "generate")
    _commit(origin, "Team audio")
    done(tmp_path, "git", "clone", "--quiet", "--depth", "2", origin.as_uri(), str(folder))
    done(folder, "git", "revert", "--no-edit", "HEAD")
    (script,) = (body for _, body in blocks(ROOT / "docs/how-to/check-a-pull-request.md", "yaml"))
    *passing, last = (line.removeprefix("  - ") for line in script.splitlines()[1:])

    assert len(passing) == 4
    for command in passing:
        done(folder, *command.split())
    ended = call(folder, *last.split())
    assert ended.returncode == 1
    assert _rules(ended.stdout) == {
        "delivery/profile-vanished",
        "change/allocation-moved",
        "change/number-forgotten",
        "change/uids-moved",
    }


def _commit(folder: Path, message: str) -> None:
    done(folder, "git", "add", "--all")
    done(folder, "git", "commit", "--quiet", "--allow-empty", "--message", message)
