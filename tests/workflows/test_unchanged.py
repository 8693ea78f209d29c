"""Verification of what a commit does not have: no unit that changed may be left out."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from trainyard.diagnostics import TreeError, has_errors
from trainyard.generation.generate import Target, generate
from trainyard.tree.write import write
from trainyard.workflows import known
from trainyard.workflows.known import Unchanged, unchanged_since
from trainyard.workflows.verify import Scope, Verification, verify

pytestmark = pytest.mark.thorough

_COMPONENTS = "../profiles/components"
_OBJECT = "components/simulation-defaults/simulation-defaults.yaml"


def _git(folder: Path, *args: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    subprocess.run(["git", *identity, *args], cwd=folder, check=True, capture_output=True)


def _commit(folder: Path) -> None:
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "--message", "x")


@pytest.fixture
def place(profiles: Path) -> Target:
    """This repository's platform, committed on main."""
    place = Target(profiles, profiles.parent / "overlays", _COMPONENTS)
    _generate(place)
    _git(profiles.parent, "init", "--quiet", "--initial-branch", "main")
    _commit(profiles.parent)
    return place


def _generate(place: Target) -> None:
    generation = generate(place.root, _COMPONENTS, tree=place.tree)
    assert not has_errors(generation.diagnostics)
    write(place.target, generation.files)


def _edit(place: Target, path: str, old: str, new: str) -> None:
    file = place.root / path
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    _generate(place)


def _compared(place: Target, ref: str = "main") -> Unchanged:
    return unchanged_since(place, generate(place.root, _COMPONENTS, tree=place.tree), ref)


def _changed(place: Target) -> set[str]:
    """Return the units that are not left out."""
    every = {
        path.parent.relative_to(place.target).as_posix()
        for path in place.target.rglob("kustomization.yaml")
    }
    same = _compared(place).units
    return every - {f"{cluster}/{unit}" for cluster, units in same.items() for unit in units}


def test_link_in_the_commit_stops_nothing(place: Target) -> None:
    """The change that removes it could not be verified otherwise."""
    link = place.target / "lab" / "teams" / "link"
    link.symlink_to("nlp")
    _commit(place.root.parent)
    link.unlink()

    assert _changed(place) == set()


def test_same_tree_leaves_out_everything(place: Target) -> None:
    same = _compared(place)
    assert _changed(place) == set()
    assert (same.ref, len(same.commit)) == ("main", 10)
    assert {cluster: len(files) for cluster, files in same.files.items()} == {
        "lab": 39,
        "prod-east": 25,
    }


def test_team_with_more_quota_changes_what_its_objects_are_in(place: Target) -> None:
    """The queues are in the platform's unit; the other teams' units stay as they are."""
    _edit(place, "teams/nlp.yaml", "home: 2Ti", "home: 3Ti")
    changed = _changed(place)
    assert "lab/teams/nlp" in changed
    assert not {"lab/teams/robotics", "prod-east/teams/vision", "lab/argocd"} & changed


def test_unit_of_a_team_that_uses_a_changed_component_is_verified(place: Target) -> None:
    """No file of the tree changes, but what kustomize builds does."""
    file = place.root / _OBJECT
    file.write_text(file.read_text().replace("double", "single"))
    assert _changed(place) == {"prod-east/teams/science", "lab/teams/science"}


def test_component_without_files_in_the_commit_is_changed(place: Target) -> None:
    _git(place.root, "rm", "--quiet", "--cached", _OBJECT)
    _git(place.root, "commit", "--quiet", "--message", "x")
    assert _changed(place) == {"prod-east/teams/science", "lab/teams/science"}


def test_file_that_a_unit_lost_makes_it_changed(place: Target) -> None:
    """The unit holds less than in the commit, and so its kustomization differs."""
    extra = place.target / "prod-east" / "teams" / "vision" / "extra.yaml"
    extra.write_text("a: 1\n")
    _commit(place.target)
    extra.unlink()
    assert _changed(place) == {"prod-east/teams/vision"}


@pytest.mark.parametrize(
    ("old", "new"),
    [(r'"tool": "[^"]+"', '"tool": "0.0.1"'), (r'"release": "[^"]+"', '"release": "other-1"')],
)
def test_other_version_or_release_leaves_out_nothing(place: Target, old: str, new: str) -> None:
    """What another Trainyard verified is verified again, on that cluster."""
    lock = place.target / "lab" / "trainyard.lock"
    text = lock.read_text()
    lock.write_text(re.sub(old, new, text))
    _commit(place.target)
    lock.write_text(text)
    assert _changed(place) == {
        path.parent.relative_to(place.target).as_posix()
        for path in (place.target / "lab").rglob("kustomization.yaml")
    }


def test_cluster_that_the_commit_lacks_is_verified(place: Target) -> None:
    (place.target / "lab").rename(place.target.parent / "lab")
    _commit(place.target)
    (place.target.parent / "lab").rename(place.target / "lab")
    assert {path.partition("/")[0] for path in _changed(place)} == {"lab"}


@pytest.mark.parametrize("ref", ["none", "--output=x", "main:profiles", ""])
def test_name_without_a_commit_is_an_error(place: Target, ref: str) -> None:
    """An empty name compares with nothing."""
    if ref:
        with pytest.raises(TreeError):
            _compared(place, ref)
    else:
        assert _compared(place, ref) == Unchanged()


def test_tree_outside_of_git_is_an_error(place: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "work_tree", lambda _: None)
    with pytest.raises(TreeError, match="is in no Git work tree"):
        _compared(place)


def _verify(place: Target) -> Verification:
    verification = verify(place, scope=Scope(since="main"))
    assert not has_errors(verification.diagnostics)
    return verification


def test_only_changed_units_are_built_and_all_are_accounted_for(place: Target) -> None:
    """What is verified and what is left out is, together, what a whole verification has."""
    whole = verify(place).counts
    assert [(count.left_out, count.files_left_out) for count in whole] == [((), 0), ((), 0)]
    _edit(place, "teams/nlp.yaml", "home: 2Ti", "home: 3Ti")
    part = _verify(place)
    assert part.base
    for every, some in zip(whole, part.counts, strict=True):
        assert {*some.by_unit, *some.left_out} == {*every.by_unit}
        assert some.objects == some.valid == some.built == some.conform < every.objects
        assert some.units == some.units_built == len(some.by_unit) < every.units
        assert (
            some.samples + some.artifacts + some.files_left_out == every.samples + every.artifacts
        )


def test_nothing_to_build_is_said(place: Target) -> None:
    for count in _verify(place).counts:
        assert (count.objects, count.units, count.skipped) == (0, 0, 0)
        assert count.left_out


def test_edited_tree_is_found_whatever_the_commit_has(place: Target) -> None:
    """The whole tree must be what is generated, even if the edit is in the commit too."""
    file = place.target / "prod-east" / "teams" / "vision" / "kustomization.yaml"
    file.write_text(file.read_text() + "# x\n")
    _commit(place.target)
    found = verify(place, scope=Scope(since="main")).diagnostics
    assert "delivery/tree-is-stale" in {each.rule for each in found}
