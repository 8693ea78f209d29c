from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calls import Ended, edit

Call = Callable[..., Ended]


def _state(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def _last(ended: Ended, lines: int) -> str:
    return "\n".join(ended.out.splitlines()[-lines:])


def test_tree_is_written_and_counted_by_unit(repository: Path, trainyard: Call) -> None:
    """The first run creates everything; the second finds nothing to do and does not touch the tree."""
    ended = trainyard("generate")
    files = len(_state(repository / "overlays"))

    assert (ended.code, ended.err) == (0, "")
    assert _last(ended, 1) == f"wrote overlays: {files} created"
    assert "\noverlays/prod-east/teams/nlp: " in ended.out
    before = (repository / "overlays").stat().st_ino
    assert _last(trainyard("generate"), 1) == f"overlays is up to date: {files} files"
    assert (repository / "overlays").stat().st_ino == before


def test_dry_run_tells_the_same_and_writes_nothing(tree: Path, trainyard: Call) -> None:
    """What would be written is what is written."""
    edit(tree / "profiles" / "teams" / "nlp.yaml", "nlp-guests", "nlp-readers")
    (tree / "overlays" / "prod-east" / "teams" / "vision" / "localqueue-gpu.yaml").unlink()
    before = _state(tree / "overlays")
    dry = trainyard("generate", "--dry-run")

    assert dry.code == 0
    assert _state(tree / "overlays") == before
    assert _last(dry, 1).startswith("would write overlays: 1 created, ")
    assert trainyard("generate").out == dry.out.replace("would write", "wrote")


def test_check_names_each_file_that_differs(tree: Path, trainyard: Call) -> None:
    """Missing, edited and extra files fail the check, each is named, and nothing is written."""
    folder = tree / "overlays" / "prod-east"
    (folder / "teams" / "nlp" / "localqueue-gpu.yaml").unlink()
    (folder / "teams" / "nlp" / "extra.yaml").write_text("")
    (folder / "README.md").write_text("edited\n")
    before = _state(tree / "overlays")
    ended = trainyard("generate", "--check", "--output", str(tree / "overlays"))

    assert (ended.code, ended.err) == (1, "")
    assert _state(tree / "overlays") == before
    assert (
        "error[delivery/tree-is-stale]: prod-east: 1 edited\n"
        " --> overlays/prod-east\n"
        "  = if merged: Argo CD syncs what is committed (seen with Argo CD 3.5.7): the cluster gets something else"
        " than the profiles that were reviewed.\n"
        "  = note: edited --> overlays/prod-east/README.md\n"
    ) in ended.out
    assert "error[delivery/tree-is-stale]: prod-east/teams/nlp: 1 missing, 1 extra\n" in ended.out
    assert "  = note: extra --> overlays/prod-east/teams/nlp/extra.yaml\n" in ended.out
    assert "  = note: missing --> overlays/prod-east/teams/nlp/localqueue-gpu.yaml\n" in ended.out
    assert ended.out.splitlines()[-1].startswith("2 errors")


@pytest.mark.usefixtures("tree")
def test_check_of_a_fresh_tree_is_fine(trainyard: Call) -> None:
    """Nothing differs, nothing fails."""
    ended = trainyard("generate", "--check")

    assert (ended.code, ended.err) == (0, "")
    assert _last(ended, 1).startswith("overlays is up to date: ")


def test_profiles_with_errors_write_nothing(broken: Path, trainyard: Call) -> None:
    """A mistake in a profile stops everything."""
    ended = trainyard("generate")

    assert (ended.code, ended.out.splitlines()[-1]) == (1, "1 error in 1 profile")
    assert not (broken / "overlays").exists()


@pytest.mark.parametrize("option", ["--check", "--dry-run", ""])
def test_vanished_profile_writes_nothing(option: str, tree: Path, trainyard: Call) -> None:
    """A team is not deleted because its file is missing, be it by a bad merge."""
    (tree / "profiles" / "teams" / "science.yaml").unlink()
    edit(tree / "profiles" / "allocations.yaml", "    science: ", "    # science: ")
    before = _state(tree / "overlays")
    ended = trainyard("generate", *filter(None, [option]))

    assert ended.code == 1
    assert "\nerror[delivery/profile-vanished]: " in f"\n{ended.out}"
    assert "\n --> profiles/teams/science.yaml\n" in ended.out
    assert "tree-is-stale" not in ended.out
    assert _state(tree / "overlays") == before


def test_runtime_is_not_edited_in_place(tree: Path, trainyard: Call) -> None:
    """The tree stays as it is until the version is raised; the version alone is enough."""
    runtime = tree / "profiles" / "runtimes" / "openmpi-cuda.yaml"
    before = _state(tree / "overlays")
    edited = runtime.read_text().replace("sharedMemory: 64Gi", "sharedMemory: 80Gi")
    runtime.write_text(edited)
    ended = trainyard("generate")

    assert ended.code == 1
    assert "volumes[dshm].emptyDir.sizeLimit 64Gi -> 80Gi in node and launcher" in ended.out
    assert _state(tree / "overlays") == before

    runtime.write_text(edited.replace("version: 3", "version: 4"))
    assert trainyard("generate").code == 0


def _retire(tree: Path, trainyard: Call) -> None:
    """Generate a team as drained, and write its tombstone."""
    profile = tree / "profiles" / "teams" / "science.yaml"
    profile.write_text(profile.read_text() + "state: draining\n")
    assert trainyard("generate").code == 0
    edit(profile, "state: draining", "state: retired")


def test_tombstone_lets_the_team_go(tree: Path, trainyard: Call) -> None:
    """A team that was drained and is retired leaves the tree."""
    _retire(tree, trainyard)
    ended = trainyard("generate")

    assert ended.code == 0
    assert not (tree / "overlays" / "prod-east" / "teams" / "science").exists()
    assert trainyard("generate", "--check").code == 0


def test_file_edited_by_hand_is_kept_and_told(tree: Path, trainyard: Call) -> None:
    """What a person changed is not thrown away with what is no longer generated."""
    _retire(tree, trainyard)
    file = tree / "overlays" / "prod-east" / "teams" / "science" / "localqueue-gpu.yaml"
    file.write_text("mine\n")
    ended = trainyard("generate")

    kept = "overlays/prod-east/teams/science/localqueue-gpu.yaml: kept, since it was edited by hand;"
    assert kept in ended.out
    assert file.read_text() == "mine\n"


def test_json_lists_every_file(repository: Path, trainyard: Call) -> None:
    """A machine is told what was done to each file."""
    ended = trainyard("generate", "--format", "json")
    result = json.loads(ended.out)["result"]

    assert list(result) == ["written", "created", "changed", "deleted", "kept"]
    assert result["written"] is True
    assert sorted(f"overlays/{path}" for path in result["created"]) == sorted(
        path.relative_to(repository).as_posix() for path in (repository / "overlays").rglob("*") if path.is_file()
    )
    assert json.loads(trainyard("generate", "--dry-run", "--format", "json").out)["result"]["written"] is False


def test_components_are_found_from_any_folder(repository: Path, trainyard: Call) -> None:
    """A hand-written component is listed by the way from the tree to the profiles, wherever both are."""
    (repository / "deep").mkdir()
    (repository / "profiles").rename(repository / "in")
    assert trainyard("generate", "--profiles", "in", "--output", "deep/out").code == 0
    unit = repository / "deep" / "out" / "prod-east" / "teams" / "science"

    (line,) = [line for line in (unit / "kustomization.yaml").read_text().splitlines() if "simulation" in line]
    assert (unit / line.strip('- "')).resolve() == repository / "in" / "components" / "simulation-defaults"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--check", "--dry-run"), "error: `--check` and `--dry-run` exclude each other\n"),
        (("--cluster", "prod-eas"), "error: there is no cluster `prod-eas`; did you mean `prod-east`?\n"),
        (("--cluster", "qqq"), "error: there is no cluster `qqq`; there is: lab, prod-east\n"),
    ],
)
@pytest.mark.usefixtures("repository")
def test_wrong_use_is_told(args: tuple[str, ...], message: str, trainyard: Call) -> None:
    """What makes no sense is a usage error."""
    help_line = "Try `trainyard generate --help`.\n"
    ended = trainyard("generate", *args)

    assert (ended.code, ended.out) == (2, "")
    assert ended.err in {message, message + help_line}


def test_no_cluster_is_no_success(repository: Path, trainyard: Call) -> None:
    """An empty tree is not a green one."""
    for kind in ("clusters", "teams", "components"):
        shutil.rmtree(repository / "profiles" / kind)
    (repository / "profiles" / "allocations.yaml").unlink()
    ended = trainyard("generate")

    assert (ended.code, ended.out) == (3, "")
    assert ended.err.startswith("error: no cluster in profiles/clusters; ")


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("clusters/lab.yaml", "fips: true", "frameworks: [BatchJob, JobSet, RayJob, TrainJob]\nfips: true"),
        ("clusters/lab.yaml", "fips: true", "frameworks: [BatchJob, JobSet, MPIJob, TrainJob]\nfips: true"),
        ("clusters/lab.yaml", "  cpu: {", "  spare: {hardware: cpu-spare, nodes: 1, reserve: 1}\n  cpu: {"),
        ("clusters/lab.yaml", "nodes: 3, reserve: 1}", "nodes: 4, reserve: 2}"),
    ],
    ids=["RayJob", "MPIJob", "pool", "nodes"],
)
def test_edit_over_a_committed_tree_and_back(tree: Path, trainyard: Call, file: str, old: str, new: str) -> None:
    """Files that are no API objects change and come back like any other; the revert restores each byte."""
    before = _state(tree / "overlays")
    hardware = tree / "profiles" / "hardware"
    hardware.joinpath("cpu-spare.yaml").write_text(
        hardware.joinpath("cpu-epyc.yaml").read_text("utf-8").replace("node-type: cpu-epyc", "node-type: cpu-spare")
    )
    edit(tree / "profiles" / file, old, new)

    assert trainyard("generate", "--dry-run").code == 0
    assert trainyard("generate", "--check").code == 1
    assert trainyard("generate").code == 0
    assert trainyard("generate", "--check").code == 0
    assert _state(tree / "overlays") != before
    edit(tree / "profiles" / file, new, old)
    assert trainyard("generate").code == 0
    assert _state(tree / "overlays") == before
