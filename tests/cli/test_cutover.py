"""``trainyard cutover``: the plan follows the profiles, merge after merge."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calls import Ended
from trainyard.cli.exits import Exit

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("here", "begun")]
Call = Callable[..., Ended]
CLUSTER = Path("profiles/clusters/lab.yaml")
NLP, AUDIO = Path("profiles/teams/nlp.yaml"), Path("profiles/teams/audio.yaml")
ADOPT = 'adopt: {pods: audit, queues: site, until: "2099-03-31", reason: inference moves}\n'
STAGE = 'adopt: {stage: observe, until: "2099-02-28", reason: notebooks move}\n'


@pytest.fixture
def begun(trainyard: Call) -> None:
    """A cluster beside what runs, whose two teams are held."""
    assert trainyard("init", "--release", "kubernetes-1.36").code == Exit.FINE
    assert trainyard("add", "team", "nlp", "--nodes", "2").code == Exit.FINE
    assert trainyard("add", "team", "audio", "--nodes", "2").code == Exit.FINE
    prepend(CLUSTER, "state: held\n" + ADOPT)


def prepend(path: Path, lines: str) -> None:
    path.write_text(lines + path.read_text("utf-8"), "utf-8")


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def progress(trainyard: Call) -> list[str]:
    """Return each step's progress, which the marks of the text repeat."""
    ended = trainyard("cutover", "lab")
    assert ended.code == Exit.FINE
    found = re.findall(r"(?m)^  ([+!~]) \d+\. (\w+): ", ended.out)
    assert [mark for mark, _ in found] == [
        {"done": "+", "next": "!", "later": "~"}[word] for _, word in found
    ]
    return [word for _, word in found]


def test_each_merge_is_a_step(trainyard: Call) -> None:
    """From the first merge to the last, one team after the other; the last merge ends the plan."""
    rules = ["done", "done"]
    assert progress(trainyard) == ["done", "next", "later", *rules, "later", "later"]
    edit(CLUSTER, "state: held\n", "")
    prepend(NLP, "state: held\n")
    assert progress(trainyard) == ["done", "done", "next", *rules, "later", "later"]
    edit(NLP, "state: held\n", STAGE)
    rules = ["done", "later"]
    assert progress(trainyard) == ["done", "done", "next", *rules, "later", "later"]
    edit(NLP, "stage: observe", "stage: warn")
    assert progress(trainyard) == ["done", "done", "done", "done", "next", "later", "later"]
    edit(NLP, STAGE.replace("observe", "warn"), "")
    edit(CLUSTER, "pods: audit", "pods: warn")
    assert progress(trainyard) == [*["done"] * 5, "next", "later"]
    edit(CLUSTER, "pods: warn, ", "")
    assert progress(trainyard) == [*["done"] * 6, "next"]
    edit(CLUSTER, ADOPT.replace("pods: audit, ", ""), "")
    assert set(progress(trainyard)) == {"done"}
    assert "the cut-over has ended, or has not begun\n" in trainyard("cutover", "lab").out


def test_old_local_queues_go_before_their_names_are_given(trainyard: Call) -> None:
    """No LocalQueue can be led to another ClusterQueue, and the tree has none of the name yet."""
    prepend(NLP, "queues: {gpu: [default-queue]}\n")
    shown = trainyard("cutover", "lab").out
    assert (
        "nothing, save and delete LocalQueue team-nlp/default-queue and its jobs that wait and must"
        in shown
    )
    assert (
        "save: kubectl get localqueue default-queue --namespace team-nlp --output yaml | "
        "grep -vE '^ +(resourceVersion|uid):' > team-nlp-default-queue.yaml\n"
    ) in shown
    assert (
        "wait until its jobs have ended, merge `adopt` with `stage: observe` in "
        "profiles/teams/nlp.yaml instead, apply the saved LocalQueues, then open its old" in shown
    )
    assert shown.count("apply the saved LocalQueues") == 1
    assert shown.count("persistentvolumeclaims --namespace team-nlp --selector") == 1
    assert "persistentvolumeclaims --namespace team-audio" not in shown
    assert "team audio: hold its old ClusterQueue, wait until it reserves nothing, then" in shown


def test_steps_name_who_how_long_and_the_way_back(trainyard: Call) -> None:
    edit(CLUSTER, "state: held\n", "")
    prepend(NLP, STAGE)
    edit(CLUSTER, "priorities: {production: 1000, interactive: 800, batch: 500}", _LIMITED)
    shown = trainyard("cutover", "lab").out
    assert "queues: set `stage: warn` in profiles/teams/nlp.yaml, which holds its jobs" in shown
    assert "who: nlp@ml.example.com, then the platform team\n" in shown
    assert "until 2099-02-28: notebooks move\n" in shown
    assert "on the way back at most 2d\n" in shown
    assert shown.count("way back: ") == 7


_LIMITED = (
    "priorities: {production: {value: 1000, deadline: 2d}, batch: {value: 500, deadline: 8h}}"
)


def test_the_stage_opens_the_queues_of_a_team_that_is_observed(trainyard: Call) -> None:
    """An open cluster opens the other teams alone, and the later step of the team has no stage."""
    prepend(NLP, STAGE)
    shown = trainyard("cutover", "lab").out
    of_audio, of_nlp = shown[shown.index("team audio: hold") :].split("team nlp: hold")
    held = "cluster lab is held, by `state` in profiles/clusters/lab.yaml"
    assert f"queues: {held}; and set `stage: warn` in profiles/teams/nlp.yaml" in of_nlp
    assert "an open cluster opens team audio too" in of_nlp
    assert "until 2099-02-28: notebooks move" in of_nlp
    assert "opens team nlp" not in of_audio
    assert f"queues: {held}\n" in of_audio
    assert "team nlp: change what breaks its rules, then remove `adopt` in" in shown
    edit(CLUSTER, "state: held\n", "")
    assert progress(trainyard) == ["done", "done", "next", "done", "later", "later", "later"]
    edit(NLP, "stage: observe", "stage: warn")
    assert progress(trainyard) == ["done", "done", "done", "done", "next", "later", "later"]


def test_import_names_the_old_queues(trainyard: Call) -> None:
    """Of its team alone; a note that is not a note is named, and not passed over."""
    note = Path("adoption/lab.json")
    note.parent.mkdir()
    row = {"team": "nlp", "resource": "ClusterQueue", "was": "research"}
    other = {"team": "audio", "resource": "namespace", "was": "sound"}
    local = {"team": "nlp", "resource": "LocalQueue", "was": "team-nlp/old"}
    gone = {**local, "was": "sound/old"}
    unled = {**local, "was": "1"}
    rows = [row, other, local, gone, unled]
    note.write_text(json.dumps({"result": {"rows": rows}}), "utf-8")
    shown = trainyard("cutover", "lab").out
    assert (
        "team nlp: hold ClusterQueue research, wait until it reserves nothing, save and delete "
        "LocalQueue team-nlp/old and its" in shown
    )
    assert "team audio: hold its old ClusterQueue, wait" in shown
    note.write_text("{", "utf-8")
    ended = trainyard("cutover", "lab")
    assert ended.code == Exit.IO
    assert "adoption/lab.json can't be read" in ended.err


def test_stage_before_its_turn_is_said(trainyard: Call) -> None:
    """Jobs of the site do not start again while the old queue still has them."""
    adopted = ADOPT.replace("}", ", objects: [Namespace/team-nlp]}")
    edit(CLUSTER, ADOPT, adopted)
    early = "came before its turn: jobs of the site in team-nlp do not start again"
    shown = trainyard("cutover", "lab").out
    assert f"`stage: enforce` {early}" in shown
    assert "before its turn: its queues are not open\n" in shown
    assert progress(trainyard)[3:5] == ["done", "done"]
    prepend(NLP, STAGE)
    assert "before its turn" not in trainyard("cutover", "lab").out
    edit(NLP, "stage: observe", "stage: warn")
    assert f"`stage: warn` {early}" in trainyard("cutover", "lab").out
    edit(CLUSTER, "state: held\n", "")
    assert "before its turn" not in trainyard("cutover", "lab").out


def test_cluster_that_refuses_before_its_teams_are_over_is_said(trainyard: Call) -> None:
    """Its policy counts pods of an observed team as those of others."""
    prepend(NLP, STAGE)
    assert "count as such" not in trainyard("cutover", "lab").out
    edit(CLUSTER, ADOPT, "")
    shown = trainyard("cutover", "lab").out
    assert "`stage: observe` those of team nlp count as such: they do not start again" in shown
    assert shown.count("before its turn: not held to the rules yet: team nlp\n") == 2
    assert progress(trainyard) == ["next", "later", "later", "done", "later", "done", "done"]


def test_first_step_says_what_no_profile_shows(trainyard: Call) -> None:
    shown = trainyard("cutover", "lab").out
    assert shown.startswith("Cut-over of lab: by its profiles 3 of 7 steps are done\n")
    assert "profiles do not show whether it is synced, nor which nodes are over: dgx-h100" in shown
    assert "`trainyard preflight lab --phase after` compares them\n" in shown


def test_forms_have_the_same_steps(trainyard: Call) -> None:
    written = json.loads(trainyard("cutover", "lab", "--format=json").out)
    steps = written["result"]["cutover"]["steps"]
    assert [step["progress"] for step in steps] == progress(trainyard)
    markdown = trainyard("cutover", "lab", "--format=markdown").out
    assert all(step["task"]["what"] in markdown for step in steps)


def test_wrong_use_and_profiles_without_a_platform(trainyard: Call) -> None:
    assert "did you mean `lab`?" in trainyard("cutover", "lob").err
    CLUSTER.write_text("release: [\n", "utf-8")
    ended = trainyard("cutover", "lab")
    assert (ended.code, ended.out[:6]) == (Exit.FINDINGS, "error[")
