"""Teams leave clusters, and clusters are given up, by tombstones: step by step over a committed
tree, with what the comparison with the base says, the revert, and the next edit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.histories import History
from trainyard.tree.lockfile import read_lock

pytestmark = pytest.mark.thorough

LAB, WEST, NLP = "clusters/lab.yaml", "clusters/west.yaml", "teams/nlp.yaml"
UNIT, PROFILE = "delivery/unit-vanished", "delivery/profile-vanished"
UNDRAINED, UNKNOWN = "change/retired-without-draining", "references/unknown-name"
QUOTA = "west: {dgx-h100: {nodes: 2}}"
_SPARE = """\
extends: cpu-node
labels: {example.com/spare: "true"}
cpu: {sockets: 2, cores: 64, threads: 128}
memory: 512Gi
ephemeralStorage: 1Ti
taint: ml.example.com/spare
"""
"""A second type of hardware."""


@pytest.fixture
def history(history: History) -> History:
    """Clusters `lab` and `west` of one kind; team `nlp` is on both, `audio` on `lab` alone."""
    text = (history.folder / "profiles" / LAB).read_text("utf-8")
    (history.folder / "profiles" / WEST).write_text(text.replace("lab", "west"), "utf-8")
    history.edit(NLP, "quota:\n", f"quota:\n  {QUOTA}\n")
    code, out = history.trainyard("add", "allocation", "nlp", "--cluster", "west")
    assert code == 0, out
    history.commit()
    return history


def _states(history: History, state: str) -> None:
    """Set the state of `nlp` on `west`; empty for none."""
    line = f"states: {{west: {state}}}\n" if state else ""
    history.write(NLP, lambda text: line + re.sub("(?m)^states: .*\n", "", text))


def _state(history: History, state: str) -> None:
    """Set the state of `west`; empty for none."""
    line = f"state: {state}\n" if state else ""
    history.write(WEST, lambda text: line + re.sub("(?m)^state: .*\n", "", text))


def _diff(history: History, *options: str) -> tuple[set[str], str]:
    """Return the errors of the required check, and what it printed."""
    code, out = history.trainyard("diff", "--base", "HEAD", *options)
    errors = set(re.findall(r"^error\[(.*?)\]", out, re.MULTILINE))
    assert code == (1 if errors else 0), out
    return errors, out


def _policies(history: History) -> dict[str, str]:
    """Return the stop policy of each queue of `nlp`, by cluster."""
    found = {}
    for file in sorted((history.folder / "overlays").glob("*/platform/clusterqueue-nlp-gpu.yaml")):
        (found[file.parts[-3]],) = re.findall(r"stopPolicy: (\w+)", file.read_text("utf-8"))
    return found


def _leave(history: History) -> None:
    for state in ("draining", "retired"):
        _states(history, state)
        assert _diff(history)[0] == set()
        history.commit()


def _give_up(history: History) -> None:
    for state in ("draining", "retired"):
        _state(history, state)
        assert _diff(history)[0] == set()
        history.commit()


def test_team_leaves_one_cluster_and_stays_on_the_other(history: History) -> None:
    """Nobody is evicted where it stays, its numbers stay its own, and each step is taken back."""
    before = history.git("rev-parse", "HEAD:overlays/lab")
    _states(history, "draining")
    errors, out = _diff(history)
    assert (errors, out.partition(",")[0]) == (set(), "evicts jobs of nlp on west")
    history.commit()
    assert _policies(history) == {"lab": "None", "west": "HoldAndDrain"}

    _states(history, "retired")
    errors, out = _diff(history)
    assert errors == set()
    assert "Namespace team-nlp (left behind" in out
    assert "- nlp on dgx-h100: 2 nodes" in out
    history.commit()
    assert _policies(history) == {"lab": "None"}
    assert history.git("rev-parse", "HEAD:overlays/lab") == before
    lock = read_lock(history.folder / "overlays" / "west")
    assert lock is not None
    assert [(held.team, held.former) for held in lock.holdings] == [("nlp", False)]

    history.revert()
    assert _policies(history) == {"lab": "None", "west": "HoldAndDrain"}
    _states(history, "")
    assert _diff(history)[0] == set()
    history.commit()
    assert history.git("diff", "--stat", f"{before.strip()}", "HEAD:overlays/lab") == ""


def test_quota_of_a_left_cluster_is_removed_later(history: History) -> None:
    """That changes no byte of the tree, then the state may go too; a new quota brings it back."""
    _leave(history)
    history.edit(NLP, f"  {QUOTA}\n", "")
    assert _diff(history)[0] == set()
    history.commit()
    assert history.git("diff", "--name-only", "HEAD~1").split() == [f"profiles/{NLP}"]
    _states(history, "")
    assert _diff(history)[0] == set()
    history.commit()

    history.edit(NLP, "quota:\n", f"quota:\n  {QUOTA}\n")
    assert _diff(history)[0] == set()
    history.commit()
    assert _policies(history) == {"lab": "None", "west": "None"}


def test_quota_goes_with_the_state_and_never_alone(history: History) -> None:
    """What is only left out is refused, drained or not, and the help names the way."""
    history.edit(NLP, f"  {QUOTA}\n", "")
    assert _diff(history)[0] == {UNIT}
    history.refused(UNIT)
    assert "states: {west: retired}" in history.trainyard("generate")[1]
    history.restore()

    _states(history, "draining")
    history.commit()
    _states(history, "")
    history.edit(NLP, f"  {QUOTA}\n", "")
    history.refused(UNIT)
    _states(history, "retired")
    assert _diff(history)[0] == set()
    history.commit()


def test_team_that_is_not_drained_does_not_leave(history: History) -> None:
    """An unknown cluster is reported too; a team drained everywhere leaves one cluster as well."""
    _states(history, "retired")
    history.refused(UNDRAINED)
    assert ".yaml:1:16" in history.trainyard("generate")[1]
    history.edit(NLP, "{west: retired}", "{wst: draining}")
    history.refused(UNKNOWN)
    history.restore()

    history.put("nlp", "draining")
    history.commit()
    _states(history, "retired")
    history.put("nlp", "active")
    assert _diff(history)[0] == set()
    history.commit()
    assert _policies(history) == {"lab": "None"}


def test_team_state_and_cluster_state_are_the_furthest(history: History) -> None:
    """A retired team is nowhere; on a draining cluster every team is drained."""
    _state(history, "draining")
    history.commit()
    assert _policies(history) == {"lab": "None", "west": "HoldAndDrain"}
    _, shown = history.trainyard("show", "nlp")
    assert re.search(r"state on west +draining +profiles/clusters/west.yaml:1", shown), shown
    _states(history, "retired")
    assert _diff(history)[0] == set()
    history.commit()
    _state(history, "")
    assert _diff(history)[0] == set()
    history.commit()
    assert _policies(history) == {"lab": "None"}
    history.put("nlp", "retired")
    history.refused(UNDRAINED)


def test_cluster_is_given_up_and_only_its_numbers_stay(history: History) -> None:
    """Drained first; the other cluster keeps its bytes, and no job is hit by the tombstone."""
    lab = history.git("rev-parse", "HEAD:overlays/lab")
    _state(history, "retired")
    history.refused(UNDRAINED)
    _state(history, "draining")
    errors, out = _diff(history)
    assert (errors, out.partition(",")[0]) == (set(), "evicts jobs of nlp on west")
    history.commit()
    _state(history, "retired")
    errors, out = _diff(history)
    assert errors == set()
    assert out.startswith("evicts: nobody; gives up west: what runs there stays, ")
    assert "- pool dgx-h100: 9 nodes; it is removed" in out
    history.commit()

    assert history.git("rev-parse", "HEAD:overlays/lab") == lab
    assert _files("overlays/west") == ["trainyard.lock"]
    lock = read_lock(Path("overlays/west"))
    assert lock is not None
    assert (lock.files, [held.team for held in lock.holdings]) == ({}, ["nlp"])
    assert _diff(history, "--base", "HEAD~1", "--head", "HEAD")[0] == set()


def test_cluster_that_was_given_up_comes_back(history: History) -> None:
    """Other edits go on meanwhile, and its tree is the old one."""
    before = history.git("rev-parse", "HEAD:overlays/west")
    _give_up(history)
    history.edit(LAB, "nodes: 9", "nodes: 10")
    history.commit()
    _state(history, "draining")
    assert _diff(history)[0] == set()
    history.commit()
    _state(history, "")
    history.commit()
    assert history.git("rev-parse", "HEAD:overlays/west") == before


def _files(folder: str) -> list[str]:
    return sorted(each.relative_to(folder).as_posix() for each in Path(folder).rglob("*"))


def test_folder_of_a_cluster_that_was_given_up_holds_nothing_else(history: History) -> None:
    """A planted file is found, and a lockfile that forgets is too."""
    _give_up(history)
    history.git("branch", "base")
    Path("overlays/west/teams/rogue").mkdir(parents=True)
    Path("overlays/west/teams/rogue/kustomization.yaml").write_text("x: 1\n", "utf-8")
    assert "error[delivery/foreign-file]" in history.trainyard("generate", "--check")[1]
    history.restore()

    lock = Path("overlays/west/trainyard.lock")
    lock.write_text(re.sub(r'\[\n    \{"fabric".*\n  \]', "[]", lock.read_text()), "utf-8")
    history.git("commit", "--all", "--message", "forget")
    errors, _ = _diff(history, "--base=base", "--head=HEAD")
    assert errors == {"change/number-forgotten"}
    assert (
        "error[change/number-forgotten]" in history.trainyard("verify", "--changed-since=base")[1]
    )


@pytest.mark.parametrize("folder", ["kept", "removed"])
def test_profile_of_a_cluster_goes_after_its_tombstone(history: History, folder: str) -> None:
    """With what teams still say of it; never before, whatever else goes in that change."""
    _state(history, "draining")
    history.commit()
    history.edit(NLP, f"  {QUOTA}\n", "")
    (history.folder / "profiles" / WEST).unlink()
    assert _diff(history)[0] == {PROFILE}
    history.refused(PROFILE)
    history.restore()

    _state(history, "retired")
    history.commit()
    (history.folder / "profiles" / WEST).unlink()
    history.refused(UNKNOWN)
    history.edit(NLP, f"  {QUOTA}\n", "")
    if folder == "removed":
        history.git("rm", "-rq", "overlays/west")
    assert _diff(history)[0] == set()
    history.commit()
    assert _diff(history, "--base", "HEAD~1", "--head", "HEAD")[0] == set()
    history.edit(LAB, "nodes: 9", "nodes: 10")
    assert _diff(history)[0] == set()
    history.commit()


def test_cluster_that_was_added_by_mistake_is_taken_back(history: History) -> None:
    """The bare revert is refused with the way out in its help: a tombstone, then no profile."""
    text = (history.folder / "profiles" / LAB).read_text("utf-8")
    east = history.folder / "profiles" / "clusters" / "east.yaml"
    east.write_text(text.replace("lab", "east"), "utf-8")
    history.commit()
    history.git("revert", "--no-edit", "HEAD")
    errors, out = _diff(history, "--base", "HEAD~1", "--head", "HEAD")
    assert errors == {PROFILE}
    assert "also one that nothing was synced to, merge `state: draining`" in out
    history.git("reset", "--hard", "--quiet", "HEAD~1")

    east.write_text(f"state: retired\n{east.read_text('utf-8')}", "utf-8")
    assert _diff(history)[0] == set()
    history.commit()
    history.git("rm", "-rq", "overlays/east", "profiles/clusters/east.yaml")
    assert _diff(history)[0] == set()
    history.commit()
    assert _diff(history, "--base", "HEAD~3", "--head", "HEAD")[1].startswith("nothing changes")


def test_pool_that_is_removed_is_no_pool_without_nodes(history: History) -> None:
    """Once no team has quota of it; the removal is taken back like any edit."""
    (history.folder / "profiles/hardware/spare.yaml").write_text(_SPARE, "utf-8")
    history.edit(LAB, "pools:\n", "pools:\n  spare: {nodes: 3}\n")
    history.commit()
    history.edit(LAB, "  spare: {nodes: 3}\n", "")
    history.git("rm", "-q", "profiles/hardware/spare.yaml")
    history.refused(PROFILE)
    assert "first remove the pools that have it" in history.trainyard("generate")[1]
    history.git("reset", "--quiet")
    history.restore()

    history.edit(LAB, "  spare: {nodes: 3}\n", "")
    _, out = _diff(history)
    assert out.startswith("removes pool spare of lab; ")
    assert "- pool spare: 3 nodes; it is removed" in out
    assert "-> 0 nodes" not in out
    history.commit()
    history.revert()
    history.revert()
    history.git("rm", "-q", "profiles/hardware/spare.yaml")
    assert _diff(history)[0] == set()
    history.commit()
