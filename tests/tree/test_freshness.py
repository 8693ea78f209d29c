"""The committed tree against a fresh generation."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from trainyard.change.history.check import check_replaced
from trainyard.diagnostics import Diagnostic, TreeError
from trainyard.generation.generate import Generation, generate
from trainyard.tree.disk import DiskTree
from trainyard.tree.freshness import check_fresh
from trainyard.tree.write import write

pytestmark = pytest.mark.thorough


@pytest.fixture
def target(profiles: Path) -> Path:
    """The tree of this repository's profiles."""
    folder = profiles.parent / "overlays"
    write(folder, _generate(profiles).files)
    return folder


def _generate(profiles: Path) -> Generation:
    generation = generate(profiles, "../profiles/components")
    assert generation.files
    return generation


def _replaced(profiles: Path, target: Path, *clusters: str) -> list[Diagnostic]:
    return list(check_replaced(DiskTree(target), _generate(profiles), clusters))


def _replace(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def _drop_team(profiles: Path, team: str) -> None:
    (profiles / "teams" / f"{team}.yaml").unlink()
    _replace(profiles / "allocations.yaml", f"    {team}: ", f"    # {team}: ")


def test_fresh_tree_has_no_finding(profiles: Path, target: Path) -> None:
    assert list(check_fresh(DiskTree(target), _generate(profiles).files)) == []
    assert _replaced(profiles, target) == []


def test_a_correction_names_the_way_out_of_a_tree_that_was_never_synced(
    profiles: Path, target: Path
) -> None:
    """Each rule that compares with it does, those with a hint of their own too; and it works."""
    _drop_team(profiles, "science")
    _replace(
        profiles / "runtimes" / "openmpi-cuda.yaml", "sharedMemory: ", "grace: 77s\nsharedMemory: "
    )
    found = _replaced(profiles, target)
    way_out = (
        "If Argo CD has never synced the cluster, remove its folder in `overlays/` and generate "
        "again."
    )
    assert {each.rule for each in found} >= {
        "change/runtime-edited-in-place",
        "delivery/profile-vanished",
    }
    assert all(each.hint.endswith(f" {way_out}") for each in found)
    for folder in target.iterdir():
        shutil.rmtree(folder)
    assert _replaced(profiles, target) == []


def test_no_tree_is_all_missing(profiles: Path, tmp_path: Path) -> None:
    """A tree that was never written is stale, and nothing of it can vanish."""
    generation = _generate(profiles)
    notes = [
        note
        for each in check_fresh(DiskTree(tmp_path / "none"), generation.files)
        for note in each.notes
    ]

    assert {note.message for note in notes} == {"missing"}
    assert sorted(note.at.file for note in notes if note.at) == sorted(
        f"overlays/{path}" for path in generation.files
    )
    assert _replaced(profiles, tmp_path / "none") == []


def test_folder_without_lockfile_is_not_ours(profiles: Path, target: Path) -> None:
    """What others keep beside the tree does not matter."""
    (target / "hub").mkdir()

    assert _replaced(profiles, target) == []


def test_vanished_team_is_found_at_its_profile(profiles: Path, target: Path) -> None:
    """There is one finding for each cluster that had the team, and it names the tombstone."""
    _drop_team(profiles, "science")
    every = _replaced(profiles, target)
    found = [each for each in every if each.rule != "change/allocation-moved"]

    # Its line in the ledger went with it, on the one cluster where it had one.
    assert len(every) == len(found) + 1
    assert [each.message.split("`")[1] for each in found] == ["lab", "prod-east"]
    assert {(each.rule, each.at.file) for each in found} == {
        ("delivery/profile-vanished", "profiles/teams/science.yaml")
    }
    assert all("state: retired" in each.hint for each in found)


def test_vanished_runtime_is_found(profiles: Path, target: Path) -> None:
    """A runtime is removed in two steps: from the teams first, then its file."""
    _replace(profiles / "teams" / "nlp.yaml", "deepspeed, ", "")
    assert _replaced(profiles, target) == []

    (profiles / "runtimes" / "deepspeed.yaml").unlink()
    (found,) = _replaced(profiles, target)
    assert (found.rule, found.at.file) == (
        "delivery/profile-vanished",
        "profiles/runtimes/deepspeed.yaml",
    )


def test_retired_team_may_leave(profiles: Path, target: Path) -> None:
    """A tombstone allows it, after the team was drained on each of its clusters."""
    _replace(profiles / "teams" / "science.yaml", "contact:", "state: retired\ncontact:")
    assert [(each.rule, each.at.path) for each in _replaced(profiles, target)] == [
        ("change/retired-without-draining", ("state",))
    ] * 2

    _replace(profiles / "teams" / "science.yaml", "retired", "draining")
    write(target, _generate(profiles).files)
    _replace(profiles / "teams" / "science.yaml", "draining", "retired")
    assert _replaced(profiles, target) == []
    write(target, _generate(profiles).files)
    assert not [*target.rglob("science")]


def test_vanished_cluster_is_found_unless_others_are_wanted(profiles: Path, target: Path) -> None:
    """A folder with a lockfile and no profile is reported, unless another cluster is wanted."""
    shutil.copytree(target / "prod-east", target / "prod-west")
    (found,) = _replaced(profiles, target)

    assert (found.rule, found.at.file) == (
        "delivery/profile-vanished",
        "profiles/clusters/prod-west.yaml",
    )
    assert "prod-west" in found.message
    assert _replaced(profiles, target, "prod-east") == []


def test_other_clusters_are_not_looked_at(profiles: Path, target: Path) -> None:
    """A run for one cluster reports nothing of another."""
    _drop_team(profiles, "science")

    assert _replaced(profiles, target, "another") == []


def test_team_without_quota_on_its_cluster_is_found(profiles: Path, target: Path) -> None:
    """A team that is there and active does not leave a cluster by an edit of its quota."""
    generation = _generate(profiles)
    platform = generation.checked.platform
    assert platform is not None
    (site,) = (each for each in platform.sites if each.name == "prod-east")
    without = replace(
        site, tenants=tuple(tenant for tenant in site.tenants if tenant.name != "nlp")
    )
    sites = tuple(without if each is site else each for each in platform.sites)
    manifests = generation.manifests["prod-east"]
    leaving = {f"prod-east/{each.path}" for each in manifests if "nlp" in each.path}
    staying = tuple(each for each in manifests if "nlp" not in each.path)
    moved = replace(
        generation,
        checked=replace(generation.checked, platform=replace(platform, sites=sites)),
        files={path: text for path, text in generation.files.items() if path not in leaving},
        manifests={**generation.manifests, "prod-east": staying},
    )
    (found,) = check_replaced(DiskTree(target), moved)

    assert (found.rule, found.at.file) == ("delivery/unit-vanished", "profiles/teams/nlp.yaml")
    assert found.at.path == ("quota",)


def test_broken_lockfile_is_reported(profiles: Path, target: Path) -> None:
    """Without its lockfile the files of Trainyard are unknown."""
    (target / "prod-east" / "trainyard.lock").write_text("{")

    with pytest.raises(TreeError, match=r"trainyard\.lock is broken"):
        _replaced(profiles, target)


def test_lost_lockfile_is_reported(profiles: Path, target: Path) -> None:
    """A tree that forgot its numbers would let the next team have them; a folder with files of
    others may be begun."""
    (target / "lab" / "trainyard.lock").unlink()

    with pytest.raises(
        TreeError, match=r"no trainyard\.lock.*restore .*lab/trainyard\.lock from Git"
    ):
        _replaced(profiles, target)
    shutil.rmtree(target / "lab")
    (target / "lab" / "hardware").mkdir(parents=True)
    assert _replaced(profiles, target) == []


def test_runtime_edited_in_place_is_found_at_its_version(profiles: Path, target: Path) -> None:
    """The committed runtime is compared with the new one, once for each cluster."""
    _replace(
        profiles / "runtimes" / "openmpi-cuda.yaml", "sharedMemory: 64Gi", "sharedMemory: 80Gi"
    )
    found = _replaced(profiles, target, "prod-east")

    assert [(each.rule, each.at.file) for each in found] == [
        ("change/runtime-edited-in-place", "profiles/runtimes/openmpi-cuda.yaml")
    ]


def test_runtime_comes_back_under_its_name_in_two_merges(profiles: Path, target: Path) -> None:
    """No team may run it between the two merges."""
    team, runtime = profiles / "teams" / "nlp.yaml", profiles / "runtimes" / "deepspeed.yaml"
    _replace(team, "deepspeed, ", "")
    write(target, _generate(profiles).files)
    _replace(team, "[openmpi-cuda", "[openmpi-cuda, deepspeed")
    _replace(runtime, "maxNodes", "deadline: 3d\nmaxNodes")

    assert _replaced(profiles, target) == []


def test_file_that_is_gone_or_moved_is_no_other_object(profiles: Path, target: Path) -> None:
    """Objects are the same by kind and name, wherever a version of Trainyard puts them."""
    platform = target / "lab" / "platform"
    (platform / "topology-roce.yaml").unlink()
    lock = target / "lab" / "trainyard.lock"
    _replace(lock, "topology-roce.yaml", "topology.yaml")
    _replace(
        profiles / "clusters" / "lab.yaml",
        "levels: [ml.example.com/leaf]",
        "levels: [ml.example.com/rack]",
    )
    _replace(
        profiles / "clusters" / "lab.yaml",
        "NodeLabel/ml.example.com/leaf",
        "NodeLabel/ml.example.com/rack",
    )
    topology = [
        each for each in _replaced(profiles, target) if each.rule == "change/immutable-field"
    ]
    assert topology == []

    moved = (
        _generate(profiles)
        .files["lab/platform/topology-roce.yaml"]
        .decode()
        .replace("/rack", "/leaf")
    )
    (platform / "topology.yaml").write_text(moved, encoding="utf-8")
    (found,) = (
        each for each in _replaced(profiles, target) if each.rule == "change/immutable-field"
    )
    assert "ml.example.com/leaf" in found.message


def test_broken_file_is_reported(profiles: Path, target: Path) -> None:
    """Left over from a merge, it can't be compared with anything."""
    _replace(
        profiles / "runtimes" / "openmpi-cuda.yaml", "sharedMemory: 64Gi", "sharedMemory: 80Gi"
    )
    file = (
        target / "prod-east" / "platform" / "clustertrainingruntime-openmpi-cuda-v3-dgx-h100.yaml"
    )
    file.write_text("<<<<<<< HEAD\nkind: [\n", encoding="utf-8")

    with pytest.raises(TreeError, match="take either side of it from Git"):
        _replaced(profiles, target)


def _foreign(profiles: Path, target: Path) -> list[Diagnostic]:
    """Return the findings about foreign files; there must be no others."""
    found = list(check_fresh(DiskTree(target), _generate(profiles).files))
    assert {each.rule for each in found} <= {"delivery/foreign-file"}
    return found


def _files(finding: Diagnostic) -> list[str]:
    return [note.at.file for note in finding.notes if note.at]


def test_foreign_files_are_reported_by_folder(profiles: Path, target: Path) -> None:
    """A foreign folder is one finding; links and pipes are files."""
    lab = target / "lab"
    for folder in (lab / "platform", lab / "old" / "deep", lab / "teams" / "rogue"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "notes.txt").touch()
    (lab / "platform" / "link.yaml").symlink_to("nowhere")
    os.mkfifo(lab / "old" / "pipe")
    found = _foreign(profiles, target)

    assert [(each.at.file, each.message) for each in found] == [
        ("overlays/lab/old", "lab/old: 2 files that Trainyard does not generate"),
        ("overlays/lab/platform", "lab/platform: 2 files that Trainyard does not generate"),
        ("overlays/lab/teams/rogue", "lab/teams/rogue: 1 file that Trainyard does not generate"),
    ]
    assert [_files(each) for each in found] == [
        ["overlays/lab/old/deep/notes.txt", "overlays/lab/old/pipe"],
        ["overlays/lab/platform/link.yaml", "overlays/lab/platform/notes.txt"],
        ["overlays/lab/teams/rogue/notes.txt"],
    ]


def test_link_in_place_of_a_cluster_is_foreign(profiles: Path, target: Path) -> None:
    """It is reported at the tree, since the cluster's folder is missing."""
    (target / "lab").rename(target.parent / "lab")
    (target / "lab").symlink_to(target.parent / "lab")
    (found,) = (
        each
        for each in check_fresh(DiskTree(target), _generate(profiles).files)
        if each.rule == "delivery/foreign-file"
    )

    assert (found.at.file, found.message) == (
        "overlays",
        "overlays: 1 file that Trainyard does not generate",
    )
    assert _files(found) == ["overlays/lab"]


def test_removal_of_foreign_files_can_be_pasted(profiles: Path, target: Path) -> None:
    """The command of each finding, run in a Git repository, leaves nothing to find and removes
    nothing of ours."""
    target = target.rename(target.with_name("it's a tree"))
    names = [
        "a b.yaml",
        "$(touch x)",
        "-rf",
        "line\nbreak",
        os.fsdecode(b"\xff"),
        "süß.yaml",
        "'",
        "*.yaml",
        "[a]",
    ]
    (target / "lab" / "old folder").mkdir()
    for folder in (target / "lab" / "platform", target / "lab" / "old folder"):
        for name in names:
            (folder / name).write_text("x", encoding="utf-8")
    for command in (
        "init --quiet",
        "add .",
        "-c user.name=a -c user.email=a@example.com commit --quiet -m all",
    ):
        subprocess.run(["git", *command.split()], cwd=target.parent, check=True)
    for each in _foreign(profiles, target):
        command, _, _ = each.hint.removeprefix("Run `").rpartition("`; ")
        assert command.isprintable()
        subprocess.run(
            ["bash", "-c", command], cwd=target.parent, check=True, stdout=subprocess.DEVNULL
        )

    assert list(check_fresh(DiskTree(target), _generate(profiles).files)) == []


def test_only_ten_files_are_in_one_command(profiles: Path, target: Path) -> None:
    """The command stays readable, and the rest is counted."""
    for number in range(12):
        (target / "lab" / f"{number:02}").touch()
    (found,) = _foreign(profiles, target)

    assert len(found.notes) == 12
    assert found.hint.count(f"{target}/lab/") == 10
    assert "/lab/09`, then the other 2; " in found.hint


def test_edited_file_that_is_no_longer_generated_is_reported(profiles: Path, target: Path) -> None:
    """Such a file stays when the tree is generated; before and after, the finding names it."""
    edited = target / "lab" / "samples" / "robotics" / "torchrun.yaml"
    edited.write_text("edited", encoding="utf-8")
    _replace(profiles / "teams" / "robotics.yaml", "[torchrun, ", "[")
    *stale, before = check_fresh(DiskTree(target), _generate(profiles).files)
    assert write(target, _generate(profiles).files).kept == ("lab/samples/robotics/torchrun.yaml",)
    (after,) = _foreign(profiles, target)

    assert {each.rule for each in stale} == {"delivery/tree-is-stale"}
    assert before.hint == after.hint
    assert [note.message for note in before.notes] == [
        "generated once, then taken over by hand; no profile makes it any more"
    ]
    assert _files(before) == _files(after) == ["overlays/lab/samples/robotics/torchrun.yaml"]
