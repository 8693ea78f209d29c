"""Maintenance over a committed tree: begun, extended, ended, reverted, and merged."""

from __future__ import annotations

import pytest

from tests.histories import History

pytestmark = pytest.mark.thorough

LAB = "clusters/lab.yaml"
POOL = "  dgx-h100: {nodes: 9, reserve: 1, fabric: ib} # placeholder: your nodes; quota holds with one down\n"  # noqa: E501 - one line
QUEUE = "overlays/lab/platform/clusterqueue-nlp-gpu.yaml"
FACTS = "overlays/lab/platform/prometheusrule-trainyard-facts.yaml"
UNTIL = 'until: "2099-12-01"'


def pool(*entries: str) -> str:
    """Return the pool with maintenances."""
    lines = ["  dgx-h100:", "    nodes: 9", "    reserve: 1", "    fabric: ib"]
    lines += ["    maintenance:", *(f"      - {{{entry}}}" for entry in entries)] if entries else []
    return "\n".join([*lines, ""])


@pytest.fixture
def history(history: History) -> History:
    """A new repository, whose pool has nine nodes; two teams own four each."""
    for team in ("nlp", "audio"):
        history.edit(f"teams/{team}.yaml", "nodes: 2", "nodes: 4")
    history.edit(LAB, POOL, pool())
    history.commit()
    return history


def diff(history: History) -> str:
    """Return what `diff` shows of the edit, which `generate` accepts."""
    code, shown = history.trainyard("generate")
    assert code == 0, shown
    code, shown = history.trainyard("diff", "--base", "HEAD")
    assert code == 0, shown
    return shown


def queue(history: History) -> str:
    return (history.folder / QUEUE).read_text("utf-8")


def test_nodes_go_out_of_use_and_come_back(history: History) -> None:
    """The reserve takes the place of one node; a team gives the second; the end restores all."""
    before = queue(history)
    one = pool(f"nodes: [gpu-07], {UNTIL}, reason: NVLink replacement")
    history.edit(LAB, pool(), one)
    shown = diff(history)
    assert "evicts: nobody; 1 of 9 nodes of dgx-h100 on lab out of use" in shown
    assert "gpu-07 until 2099-12-01 (NVLink replacement)" in shown
    assert "reserve 1 -> 0 nodes" in shown
    assert queue(history) == before
    assert "node: gpu-07" in (history.folder / FACTS).read_text("utf-8")
    history.commit()

    two = one.replace("[gpu-07]", "[gpu-07, gpu-08]")
    history.edit(LAB, one, two)
    history.refused("capacity/maintenance-exceeds-reserve")
    assert "Add `from: {audio: 1}`" in history.trainyard("validate")[1]
    given = two.replace("08],", "08], from: {nlp: 1},")
    history.edit(LAB, two, given)
    shown = diff(history)
    assert "nlp on dgx-h100: 4 -> 3 nodes" in shown
    assert "larger jobs wait until nodes are back in use" in shown
    history.commit()
    _ended(history, given, before)


def _ended(history: History, given: str, before: str) -> None:
    """Change the reason, end the maintenance, and revert its end."""
    history.edit(LAB, "NVLink replacement", "new cables")
    shown = diff(history)
    assert "~ pool dgx-h100: 2 of 9 nodes out of use" in shown
    assert "evicts: nobody\n" in shown
    history.commit()

    history.edit(LAB, given.replace("NVLink replacement", "new cables"), pool())
    assert "back in use: gpu-07, gpu-08" in diff(history)
    assert queue(history) == before
    history.commit()
    history.revert()
    assert "in maintenance" not in history.trainyard("validate")[1]
    assert history.trainyard("verify")[0] == 0


def test_whole_pool_goes_out_of_use(history: History) -> None:
    """No team has to be chosen, every queue is held, and the first line of `diff` says so."""
    nodes = ", ".join(f"gpu-{number:02}" for number in range(1, 10))
    history.edit(LAB, pool(), pool(f"nodes: [{nodes}], {UNTIL}, reason: power of row 3"))
    shown = diff(history)
    assert shown.startswith("no job can start on dgx-h100 of lab any more; ")
    assert "! pool dgx-h100: all 9 nodes out of use" in shown
    assert "held, no job starts in them: audio-gpu, nlp-gpu; running jobs stay" in shown
    assert "stopPolicy: Hold\n" in queue(history)
    facts = (history.folder / FACTS).read_text("utf-8")
    assert facts.count("state: held\n") == 2
    assert "state: active\n" not in facts
    page = (history.folder / "overlays/lab/samples/nlp/README.md").read_text("utf-8")
    assert "No job starts in queue `gpu` until then." in page
    history.commit()
    history.revert()
    assert "stopPolicy: None\n" in queue(history)


def test_maintenance_and_a_larger_quota_are_merged(history: History) -> None:
    """Each is fine alone, and Git merges the profiles; a rule finds that both are too much."""
    start = history.git("rev-parse", "--abbrev-ref", "HEAD").strip()
    history.edit(LAB, "nodes: 9", "nodes: 10")
    history.commit()
    history.git("checkout", "--quiet", "-b", "grow")
    history.edit("teams/audio.yaml", "nodes: 4", "nodes: 5")
    history.commit()
    history.git("checkout", "--quiet", start)
    entry = f"nodes: [gpu-07, gpu-08], {UNTIL}, reason: new cables"
    history.edit(
        LAB, "    fabric: ib\n", f"    fabric: ib\n    maintenance:\n      - {{{entry}}}\n"
    )
    history.commit()

    history.git("restore", "--source", "grow", "profiles/teams/audio.yaml")
    history.refused("capacity/maintenance-exceeds-reserve")
    assert "Add `from: {audio: 1}`" in history.trainyard("validate")[1]
    history.edit(LAB, "gpu-08],", "gpu-08], from: {audio: 1},")
    assert "nothing changes" not in diff(history)
    history.commit()
