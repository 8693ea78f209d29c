"""The profiles of two branches are merged as Git merges them, and only if Git would."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.git.test_commits import commit_all, git
from trainyard.change.sides import Head, read_both
from trainyard.diagnostics import Diagnostic, TreeError
from trainyard.generation.generate import Target

TEAM = "contact: a\n# 2\n# 3\n# 4\nquota:\n  lab: {pool: {nodes: 1}}\nstorage: {home: 1Ti}\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with a profile on `main`."""
    root = tmp_path / "repository"
    root.joinpath("profiles").mkdir(parents=True)
    git(root, "init", "--quiet", "--initial-branch=main")
    write(root, TEAM)
    commit_all(root)
    return root


def write(root: Path, text: str) -> None:
    root.joinpath("profiles", "nlp.yaml").write_text(text)


def branches(root: Path, ours: str, theirs: str) -> None:
    """Commit two texts of the profile, to `head` and to `main`."""
    git(root, "checkout", "--quiet", "-b", "head")
    write(root, ours)
    commit_all(root)
    git(root, "checkout", "--quiet", "main")
    write(root, theirs)
    commit_all(root)


def merged(root: Path, folder: Path) -> tuple[list[Diagnostic], str]:
    """Return the findings of merging `head` into `main`, and the profile that it gives."""
    head = both(root, "head", folder)
    return list(head.conflicts), head.profiles.joinpath("nlp.yaml").read_text()


def both(root: Path, ref: str, folder: Path) -> Head:
    """Return what merging a commit, or the work tree, into `main` gives."""
    place = Target(root / "profiles", root / "overlays", "../profiles/components")
    return read_both(place, "main", ref, folder, merge=True).head


def test_edits_of_other_lines_are_both_there(root: Path, tmp_path: Path) -> None:
    branches(root, TEAM.replace("1Ti", "2Ti"), TEAM.replace("contact: a", "contact: b"))

    assert merged(root, tmp_path) == (
        [],
        TEAM.replace("1Ti", "2Ti").replace("contact: a", "contact: b"),
    )


@pytest.mark.parametrize("more", ["", "# new\n# new\n# new\n"])
def test_conflict_is_shown_at_its_line_of_the_head(root: Path, tmp_path: Path, more: str) -> None:
    """Also where the base has more lines above, which merge cleanly."""
    theirs = more + TEAM.replace("nodes: 1", "nodes: 3")
    branches(root, TEAM.replace("nodes: 1", "nodes: 2"), theirs)
    (found,), kept = merged(root, tmp_path)

    assert found.message == "base and head both change `nlp.yaml`, in the same lines"
    assert (found.at.file, found.at.line, found.at.column) == ("profiles/nlp.yaml", 6, 3)
    assert kept == TEAM.replace("nodes: 1", "nodes: 2")


def test_profile_that_one_side_deletes_has_no_line(root: Path, tmp_path: Path) -> None:
    branches(root, TEAM.replace("nodes: 1", "nodes: 2"), TEAM)
    git(root, "rm", "--quiet", "profiles/nlp.yaml")
    commit_all(root)
    (found,), _ = merged(root, tmp_path)

    assert found.message.endswith("`nlp.yaml`, and it is new or gone on one side")
    assert found.at.line == 0


def test_unrelated_histories_are_refused(root: Path, tmp_path: Path) -> None:
    git(root, "checkout", "--quiet", "--orphan", "head")
    commit_all(root, "other")

    with pytest.raises(TreeError, match=r"no common commit; their histories are unrelated"):
        merged(root, tmp_path)


def test_shallow_history_is_named(root: Path, tmp_path: Path) -> None:
    """It looks as if every line had changed on both sides."""
    branches(root, TEAM.replace("1Ti", "2Ti"), TEAM.replace("contact: a", "contact: b"))
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth=1", "--no-single-branch", root.as_uri(), str(clone))
    git(clone, "branch", "head", "origin/head")

    with pytest.raises(TreeError, match=r"the history is shallow: `git fetch --unshallow`"):
        merged(clone, tmp_path)
    git(clone, "fetch", "--quiet", "--unshallow")
    again = tmp_path / "again"
    again.mkdir()
    assert merged(clone, again)[0] == []


def test_conflict_is_at_its_line_whatever_style_the_repository_configures(
    root: Path, tmp_path: Path
) -> None:
    git(root, "config", "merge.conflictStyle", "diff3")
    branches(root, TEAM.replace("nodes: 1", "nodes: 2"), TEAM.replace("nodes: 1", "nodes: 3"))
    (found,), _ = merged(root, tmp_path)

    assert found.at.line == 6


def test_file_that_is_no_text_is_a_conflict(root: Path, tmp_path: Path) -> None:
    branches(root, f"{TEAM}# \0 ours\n", f"{TEAM}# \0 theirs\n")
    (found,), kept = merged(root, tmp_path)

    assert found.message.endswith("`nlp.yaml`, and it is not text")
    assert kept.endswith("ours\n")


def merged_with_work_tree(root: Path, folder: Path) -> list[Diagnostic]:
    """Return the findings of merging the work tree into `main`."""
    return list(both(root, "", folder).conflicts)


@pytest.mark.parametrize(("link", "planted"), [("new.yaml", "victim"), ("teams", "victim/a.yaml")])
def test_nothing_is_written_through_a_link_of_the_head(
    root: Path, tmp_path: Path, link: str, planted: str
) -> None:
    """A pull request may come from anybody."""
    path = root / "profiles" / planted.replace("victim", link)
    path.parent.mkdir(exist_ok=True)
    path.write_text(TEAM)
    commit_all(root)
    git(root, "branch", "head", "main~1")
    victim = tmp_path / "victim"
    if "/" in planted:
        victim.mkdir()
    git(root, "checkout", "--quiet", "head")
    root.joinpath("profiles", link).symlink_to(victim)
    commit_all(root)
    (found,) = merged_with_work_tree(root, tmp_path)

    assert found.message.endswith("and it is not a regular file in the head")
    assert not (tmp_path / planted).exists()


def test_fifo_among_the_profiles_is_named(root: Path, tmp_path: Path) -> None:
    os.mkfifo(root / "profiles" / "pipe.yaml")

    with pytest.raises(TreeError, match=r"profiles/pipe\.yaml can't be merged: .*named pipe"):
        merged_with_work_tree(root, tmp_path)
