"""A fabric of others over a committed tree: its edits, their reverts, the next ones."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.histories import History

pytestmark = pytest.mark.thorough

CLUSTER, HARDWARE = "clusters/west.yaml", "hardware/nd-h100-v5.yaml"
GENOMICS = "teams/genomics.yaml"
IN_PLACE = "change/runtime-edited-in-place"
WITHOUT_BORDERS = "isolation/fabric-without-borders"
WAIVER = f"""waivers:
  - rule: {WITHOUT_BORDERS}
    file: profiles/{CLUSTER}
    reason: Both teams are one department
    owner: ml-platform
    expires: "2099-12-31"
"""


@pytest.fixture
def history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> History:
    """The example of Azure, committed."""
    monkeypatch.chdir(tmp_path)
    profiles = REPOSITORY / "examples" / "azure-infiniband" / "profiles"
    shutil.copytree(profiles, tmp_path / "profiles")
    begun = History(tmp_path, capsys)
    begun.git("init", "--quiet")
    begun.commit()
    return begun


def tree(history: History) -> dict[str, bytes]:
    folder = history.folder / "overlays"
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def newer(history: History) -> None:
    """Raise the version of both runtimes: jobs may run with the objects of the old one."""
    for name in ("openmpi", "torchrun"):
        history.edit(f"runtimes/{name}.yaml", "version: 1", "version: 2")


def test_number_of_devices_follows_the_hardware(history: History) -> None:
    """Runtimes and queues of both pools follow; a revert gives the first tree."""
    first = tree(history)
    history.edit(HARDWARE, "rdma/ib: 8", "rdma/ib: 4")
    history.refused(IN_PLACE)
    newer(history)
    assert history.trainyard("generate")[0] == 0
    code, shown = history.trainyard("diff", "--base", "HEAD")
    assert code == 0, shown
    assert "advertise 8 of rdma/ib -> 4 of rdma/ib" in shown
    history.commit()

    runtime = tree(history)["west/platform/clustertrainingruntime-torchrun-v2-nd-h100-v5.yaml"]
    assert b'rdma/ib: "4"' in runtime
    history.revert()
    assert {path: text for path, text in tree(history).items() if "lock" not in path} == {
        path: text for path, text in first.items() if "lock" not in path
    }
    history.edit(HARDWARE, "rdma/ib: 8", "rdma/ib: 16")
    newer(history)
    history.commit()


def test_second_team_of_a_pool_needs_a_waiver_and_loses_with_it(history: History) -> None:
    """The error comes back with the day that the waiver goes."""
    history.edit(
        GENOMICS,
        "{nd-genomics: {nodes: 4}}",
        "{nd-genomics: {nodes: 3}, nd-climate: {nodes: 0, borrow: 1}}",
    )
    for team in ("climate", "genomics"):
        history.write(f"teams/{team}.yaml", lambda text: f"{text}cohort: science\n")
    history.edit(CLUSTER, "priorities:", "cohorts: {science: {}}\npriorities:")
    history.edit(GENOMICS, "largestJob: {nodes: 4}", "largestJob: {nodes: 3}")
    history.refused(WITHOUT_BORDERS)

    waivers = history.folder / "profiles" / "waivers.yaml"
    waivers.write_text(WAIVER, encoding="utf-8")
    history.commit()
    waivers.unlink()
    history.refused(WITHOUT_BORDERS)
    history.restore()
    history.unchanged()


def test_pool_leaves_the_fabric_as_flavors_permit(history: History) -> None:
    """A flavor keeps its topology, so the pool keeps one of that name when it leaves."""
    history.edit(CLUSTER, "nodes: 4, fabric: ib,", "nodes: 4,")
    history.refused("change/immutable-field", IN_PLACE)
    history.restore()

    history.edit(CLUSTER, "nodes: 4, fabric: ib,", "nodes: 4, topology: ib,")
    newer(history)
    history.commit()
    history.revert()
