"""Shares of a node over a committed tree: each edit, its revert, and the next edit."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.histories import History

pytestmark = pytest.mark.thorough

QUEUE = "overlays/lab/platform/clusterqueue-bio-cpu.yaml"
HARDWARE = """\
extends: cpu-node
cpu: {sockets: 2, cores: 64, threads: 128}
memory: 512Gi
ephemeralStorage: 894Gi
system: {cpu: 8}
"""


@pytest.fixture
def history(history: History, tmp_path: Path) -> History:
    """A repository whose team `bio` has two whole nodes of a pool without GPUs."""
    hardware = tmp_path / "profiles" / "hardware"
    for name in ("cpu", "cpu-shared"):
        (hardware / f"{name}.yaml").write_text(HARDWARE, encoding="utf-8")
    history.edit(
        "clusters/lab.yaml", "pools:\n", "pools:\n  cpu: {nodes: 3}\n  cpu-shared: {nodes: 1}\n"
    )
    history.write("runtimes/openmpi.yaml", _hardware)
    add = ("add", "team", "bio", "--cluster", "lab", "--pool", "cpu", "--nodes", "2")
    assert history.trainyard(*add)[0] == 0
    history.commit()
    return history


def _move(history: History, pool: str) -> None:
    """Give team `bio` another pool: Kueue needs its queue to be empty."""
    history.put("bio", "draining")
    history.commit()
    history.write("teams/bio.yaml", _quota(pool))
    history.commit()
    history.put("bio", "active")
    history.commit()


def _hardware(text: str) -> str:
    return re.sub(r"(?m)^hardware: .*$", "hardware: [dgx-h100, cpu, cpu-shared]", text)


def _quota(pool: str) -> Callable[[str], str]:
    """Return an edit of a team's profile that gives it a quota on one pool."""
    return lambda text: re.sub(r"(?m)^  lab: .*$", f"  lab: {{{pool}}}", text)


def _runtimes(history: History) -> set[str]:
    """Return the runtimes of team `bio`, without name and version."""
    text = history.folder / "overlays/lab/platform/configmap-trainjob-limits-bio.yaml"
    (line,) = re.findall(r"(?m)^  runtimes: (.*)$", text.read_text(encoding="utf-8"))
    return {name.removeprefix("openmpi-v1-").removesuffix("-bio") for name in line.split()}


def _cpu(history: History) -> str:
    """Return the nominal quota of CPU of team `bio`."""
    text = (history.folder / QUEUE).read_text(encoding="utf-8")
    (cpu,) = re.findall(r'name: cpu\n *nominalQuota: "(\d+)"', text)
    return str(cpu)


def _diff(history: History) -> str:
    code, out = history.trainyard("diff", "--base", "HEAD~1")
    assert code == 0, out
    return out


def test_whole_nodes_become_a_share_and_whole_nodes_again(history: History) -> None:
    """The queue stays, its flavor and the runtimes are others; each step can be reverted."""
    assert (_runtimes(history), _cpu(history)) == ({"cpu"}, "240")
    history.write("teams/bio.yaml", _quota("cpu-shared: {cores: 24}"))
    history.refused("change/flavor-leaves-queue")
    history.restore()

    history.put("bio", "draining")
    history.commit()
    history.write("teams/bio.yaml", _quota("cpu-shared: {cores: 24}"))
    history.commit()
    assert (_runtimes(history), _cpu(history)) == ({"cpu-shared-12core"}, "48")
    printed = _diff(history)
    assert "- bio on cpu: 2 nodes" in printed
    assert "+ bio on cpu-shared: 24 cores" in printed

    history.revert()
    assert (_runtimes(history), _cpu(history)) == ({"cpu"}, "240")
    history.write("teams/bio.yaml", _quota("cpu-shared: {cores: 24}"))
    history.commit()
    history.put("bio", "active")
    history.commit()
    assert "largest job 0 -> 24 cores" in _diff(history)
    _move(history, "cpu: {nodes: 2}")
    assert (_runtimes(history), _cpu(history)) == ({"cpu"}, "240")


def test_share_grows_and_shrinks(history: History) -> None:
    """Its runtimes are others, as they are made for the size of the share."""
    _move(history, "cpu-shared: {cores: 24}")

    history.write("teams/bio.yaml", _quota("cpu-shared: {cores: 48}"))
    history.commit()
    assert (_runtimes(history), _cpu(history)) == ({"cpu-shared-24core"}, "96")
    printed = _diff(history)
    assert re.search("~ bio on cpu-shared: 24 -> 48 cores, .*largest job 24 -> 48 cores", printed)
    assert "a pod has 12 cores -> 24 cores" in printed

    history.revert()
    assert (_runtimes(history), _cpu(history)) == ({"cpu-shared-12core"}, "48")
    history.write("teams/bio.yaml", _quota("cpu-shared: {cores: 12}"))
    history.commit()
    assert (_runtimes(history), _cpu(history)) == ({"cpu-shared-6core"}, "24")


def test_pool_of_shares_grows_shrinks_and_goes(history: History) -> None:
    """Its number of nodes changes no share; a pool that a team uses can't go."""
    _move(history, "cpu-shared: {cores: 24}")
    before = _runtimes(history), _cpu(history)

    history.edit("clusters/lab.yaml", "cpu-shared: {nodes: 1}", "cpu-shared: {nodes: 2}")
    history.commit()
    assert (_runtimes(history), _cpu(history)) == before
    assert "pool cpu-shared: 1 -> 2 nodes, head-room 36 -> 96 cores" in _diff(history)
    history.revert()

    history.edit("clusters/lab.yaml", "  cpu-shared: {nodes: 1}\n", "")
    history.refused("references/unknown-name")
    history.restore()
    _move(history, "cpu: {nodes: 2}")
    history.edit("clusters/lab.yaml", "  cpu-shared: {nodes: 1}\n", "")
    history.commit()


def test_cores_of_a_node_change_the_part_of_each_share(history: History) -> None:
    """The number of cores stays, its part of memory does not: the diff shows the node's cores, and
    a released runtime gets a new version."""
    _move(history, "cpu-shared: {cores: 24}")

    history.edit("hardware/cpu-shared.yaml", "{cpu: 8}", "{cpu: 16}")
    history.refused("change/runtime-edited-in-place")
    history.edit("runtimes/openmpi.yaml", "version: 1", "version: 2")
    history.commit()
    assert "~ bio on cpu-shared: a node has 60 -> 56 cores" in _diff(history)


def test_team_with_a_share_is_retired(history: History) -> None:
    _move(history, "cpu-shared: {cores: 24}")
    for state in ("draining", "retired"):
        history.put("bio", state)
        history.commit()

    assert not (history.folder / QUEUE).exists()
    assert "- bio on cpu-shared: 24 cores" in _diff(history)
    assert '"cores"' not in history.trainyard("capacity", "--format", "json")[1]


def test_team_is_added_with_cores(history: History) -> None:
    """`add team` writes the share, and the tree of the others stays."""
    add = ("add", "team", "sound", "--cluster", "lab", "--pool", "cpu-shared")
    assert history.trainyard(*add, "--cores", "24", "--gpus", "2")[0] == 2
    code, out = history.trainyard(*add, "--cores", "24")
    assert code == 0, out
    assert "team sound has 24 cores of pool cpu-shared on cluster lab" in out
    history.commit()
    assert _runtimes(history) == {"cpu"}
