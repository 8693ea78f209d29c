"""Queues that are held over a committed tree: a window begins, drains, ends, and is reverted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.histories import History

pytestmark = pytest.mark.thorough

LAB = "clusters/lab.yaml"
POOL = "  dgx-h100: {nodes: 9, reserve: 1, fabric: ib} # placeholder: your nodes; quota holds with one down\n"  # noqa: E501 - one line
FOLDER = "overlays/lab/"
QUEUE = "platform/clusterqueue-nlp-gpu.yaml"
FACTS = "platform/prometheusrule-trainyard-facts.yaml"
PAGE, README = "samples/nlp/README.md", "README.md"


def diff(history: History) -> str:
    """Return what `diff` shows of the edit, which `generate` accepts."""
    code, shown = history.trainyard("generate")
    assert code == 0, shown
    code, shown = history.trainyard("diff", "--base", "HEAD")
    assert code == 0, shown
    return shown


def made(history: History, path: str) -> str:
    return (history.folder / FOLDER / path).read_text("utf-8")


def limits(history: History) -> set[str]:
    """Return what limits the largest job of each team."""
    code, shown = history.trainyard("capacity", "--format", "json")
    assert code == 0, shown
    teams = (team for each in json.loads(shown)["result"]["clusters"] for team in _teams(each))
    return {team["largestJob"]["limit"] for team in teams}


def _teams(cluster: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for pool in cluster["pools"]:
        yield from pool["teams"]


def test_cluster_is_held_drained_and_opened_again(history: History) -> None:
    """The window begins and ends; the tree is then the same as before, and the revert holds it."""
    before = {path: made(history, path) for path in (QUEUE, FACTS, PAGE, README)}
    history.edit(LAB, "release: ", "state: held\nrelease: ")
    shown = diff(history)
    assert shown.startswith("evicts: nobody; holds queues of audio, nlp on lab\n")
    assert "! held: audio-gpu, nlp-gpu; cluster lab is held" in shown
    assert "stopPolicy: Hold\n" in made(history, QUEUE)
    assert made(history, FACTS).count("state: held\n") == 2
    assert "state: active\n" not in made(history, FACTS)
    page = made(history, PAGE)
    assert "No job starts in queue `gpu`: cluster lab is held. Jobs that run go on" in page
    assert "runs nothing, while cluster lab is held." in made(history, README)
    assert limits(history) == {"held"}
    assert "starts: cluster lab is held" in history.trainyard("capacity")[1]
    history.commit()

    history.edit(LAB, "state: held\n", "")
    shown = diff(history)
    assert shown.startswith("evicts: nobody; opens queues of audio, nlp on lab\n")
    assert {path: made(history, path) for path in before} == before
    history.commit()
    history.revert()
    assert "stopPolicy: Hold\n" in made(history, QUEUE)
    assert history.trainyard("verify")[0] == 0


def test_held_cluster_is_drained_and_held_again(history: History) -> None:
    """What still runs in the window is evicted; nothing starts when the queues are only held."""
    history.edit(LAB, "release: ", "state: held\nrelease: ")
    diff(history)
    history.commit()
    history.edit(LAB, "state: held", "state: draining")
    shown = diff(history)
    assert shown.startswith("evicts jobs of ")
    assert "! draining: audio-gpu, nlp-gpu; cluster lab is draining" in shown
    assert "Jobs that ran were stopped" in made(history, PAGE)
    history.commit()
    history.revert()
    assert "stopPolicy: Hold\n" in made(history, QUEUE)


def test_pool_is_held_and_a_team_joins_meanwhile(history: History) -> None:
    """A new team's queue is held too, and the next edit of the profile keeps the state."""
    held = POOL.replace("fabric: ib}", "fabric: ib, state: held}").replace("nodes: 9", "nodes: 12")
    history.edit(LAB, POOL, held)
    assert "; pool dgx-h100 is held" in diff(history)
    history.commit()
    code, shown = history.trainyard("add", "team", "video", "--nodes", "2")
    assert code == 0, shown
    shown = diff(history)
    assert "holds queues" not in shown
    assert "stopPolicy: Hold\n" in made(history, "platform/clusterqueue-video-gpu.yaml")
    assert "pool dgx-h100 is held. " in made(history, "samples/video/README.md")
    history.commit()
    history.edit(LAB, ", state: held}", "}")
    assert "opens queues of audio, nlp, video on lab" in diff(history)
    history.commit()


def test_held_team_is_no_drained_one(history: History) -> None:
    """Its running jobs go on, so it is not retired before it drains."""
    history.edit("teams/nlp.yaml", "contact:", "state: held\ncontact:")
    assert "holds queues of nlp on lab" in diff(history)
    history.commit()
    history.edit("teams/nlp.yaml", "state: held", "state: retired")
    history.refused("change/retired-without-draining")
