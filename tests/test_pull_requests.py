"""A history of pull requests: `trainyard diff` says what each one does, before it is merged."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from jsonschema import Draft7Validator

from tests.histories import History
from trainyard.schema.published import document_schema
from trainyard.tree.lockfile import LOCKFILE

pytestmark = pytest.mark.thorough

CLUSTER, NLP, AUDIO, SPEECH = (
    "clusters/lab.yaml",
    "teams/nlp.yaml",
    "teams/audio.yaml",
    "teams/speech.yaml",
)
OWN_AND_LOANS = "2 -> 3 nodes, borrows 0 -> 1 node, lends 2 -> 3 nodes"


@dataclass(frozen=True)
class Answer:
    """What `diff` printed.

    Args:
        first: line.
        sections: title -> lines, of the only cluster.
        rules: of the findings, sorted.
        upgrade: lines about what only another version of Trainyard changes.
    """

    code: int
    first: str
    sections: dict[str, list[str]]
    rules: list[str]
    upgrade: str


def diff(history: History, *options: str) -> Answer:
    """Compare the work tree with the last commit."""
    code, out = history.trainyard("diff", "--base", "HEAD", *options)
    impact = out.partition("\ncompared: ")[0]
    sections: dict[str, list[str]] = {}
    for line in impact.splitlines():
        if match := re.fullmatch(r"  (\w+)", line):
            sections[match[1]] = []
        elif line.startswith("    "):
            sections[list(sections)[-1]].append(line.strip())
    rules = sorted(set(re.findall(r"(?m)^\w+\[(.*?)\]", out)))
    upgrade = "\n".join(re.findall(r"(?m)^Trainyard .* generates .*\n.*$", impact))
    return Answer(code, out.partition("\n")[0], sections, rules, upgrade)


def test_history(history: History) -> None:
    """Each pull request begins at the tree that the one before has left."""
    steps: tuple[Callable[[History], None], ...] = (
        _nothing,
        _add,
        _grow,
        _lend,
        _transfer,
        _lend_for_a_time,
        _rename,
        _retire,
        _mtu,
        _escalate,
        _upgrade,
    )
    for step in steps:
        step(history)


def _nothing(history: History) -> None:
    answer = diff(history)

    assert (answer.code, answer.first, answer.sections) == (0, "nothing changes", {})


def _add(history: History) -> None:
    history.add("speech")
    answer = diff(history)

    assert (answer.code, answer.first) == (0, "evicts: nobody")
    assert answer.sections["Quota"] == [
        "+ speech on dgx-h100: 2 nodes, lends 2 nodes, largest job 2 nodes",
        "~ pool dgx-h100: head-room 4 -> 2 nodes",
    ]
    assert answer.sections["Access"] == [
        "+ namespace team-speech",
        "+ group speech: trainyard-catalog-viewer in the whole cluster",
        "+ group speech: trainyard-team-user in team-speech",
        "+ group speech-guests: trainyard-catalog-viewer in the whole cluster",
        "+ group speech-guests: trainyard-team-viewer in team-speech",
        "+ group speech-leads: trainyard-catalog-viewer in the whole cluster",
        "+ group speech-leads: trainyard-team-admin in team-speech",
    ]
    assert (
        "+ team-speech: partition 0x0102 of fabric ib, rails 0-7, 10.64.32.0/20"
        in (answer.sections["Network"])
    )
    assert answer.sections["Runtimes"] == ["+ openmpi-v1 on dgx-h100: speech may use it"]
    history.commit()


def _grow(history: History) -> None:
    history.edit(NLP, "{nodes: 2}", "{nodes: 3, borrow: 1}")
    history.edit(NLP, "quota:", "largestJob: {nodes: 4}\nquota:")
    answer = diff(history)

    assert (answer.code, answer.first) == (0, "evicts: nobody")
    assert answer.sections["Quota"] == [
        f"~ nlp on dgx-h100: {OWN_AND_LOANS}, 16 -> 24 GPUs, largest job 2 -> 4 nodes",
        "~ pool dgx-h100: head-room 2 -> 1 node",
    ]
    assert answer.sections.keys() == {"Quota", "Objects"}
    history.commit()


def _lend(history: History) -> None:
    history.edit(AUDIO, "{nodes: 2}", "{nodes: 2, lend: 0}")
    history.edit(SPEECH, "{nodes: 2}", "{nodes: 2, lend: 0}")
    answer = diff(history)

    assert (answer.code, answer.rules) == (0, ["capacity/borrow-exceeds-lenders"])
    assert answer.first.startswith("may evict jobs of nlp on lab, ")
    assert answer.sections["Disruption"][1].startswith("because: team `audio` lends 2 -> 0 nodes")
    assert answer.sections["Quota"] == [
        "~ audio on dgx-h100: lends 2 -> 0 nodes",
        "~ nlp on dgx-h100: largest job 4 -> 3 nodes",
        "~ speech on dgx-h100: lends 2 -> 0 nodes",
    ]
    history.commit()


def _transfer(history: History) -> None:
    history.edit(NLP, "nodes: 3, ", "nodes: 2, ")
    history.edit(NLP, "largestJob: {nodes: 4}\n", "")
    history.edit(AUDIO, "nodes: 2, ", "nodes: 3, ")
    answer = diff(history)

    transfer, *others = answer.sections["Quota"]
    assert answer.code == 0
    assert answer.first.startswith("may evict jobs of nlp on lab, ")
    assert transfer == "~ transfer of nodes of dgx-h100: nlp 3 -> 2, audio 2 -> 3"
    assert not any("pool" in line for line in others)
    history.commit()


def _lend_for_a_time(history: History) -> None:
    history.edit(SPEECH, "nodes: 2,", 'nodes: 3, until: "2099-01-31", reason: paper, then: 2,')
    answer = diff(history)

    assert answer.code == 0
    assert answer.sections["Quota"][0] == (
        "~ speech on dgx-h100: 2 -> 3 nodes, 16 -> 24 GPUs, largest job 2 -> 3 nodes, "
        "until 2099-01-31 (paper), then 2 nodes and 1 node back in the pool"
    )
    _, out = history.trainyard("diff", "--base", "HEAD", "--format", "json")
    document = json.loads(out)
    Draft7Validator(document_schema("diff")).validate(document)
    (cluster,) = document["result"]["change"]["impact"]["clusters"]
    term = {"until": "2099-01-31", "reason": "paper", "nodes": 2}
    assert cluster["quotas"][0]["after"]["term"] == term
    history.edit(SPEECH, 'nodes: 3, until: "2099-01-31", reason: paper, then: 2,', "nodes: 2,")
    assert diff(history).first == "nothing changes"


def _rename(history: History) -> None:
    history.put("audio", "draining")
    answer = diff(history)
    assert answer.code == 0
    assert answer.first.startswith("evicts jobs of audio on lab, at most 24 running GPUs")
    assert answer.sections["Quota"] == [
        "! draining: audio-gpu; team audio is draining",
        "their jobs are evicted and wait, and none starts",
        "~ audio on dgx-h100: largest job 3 -> 0 nodes",
    ]
    history.commit()

    history.git("mv", f"profiles/{AUDIO}", "profiles/teams/sound.yaml")
    keys = "renamedFrom: audio\nfolder: audio\n"
    history.write("teams/sound.yaml", lambda text: re.sub("(?m)^state: .*\n", "", text) + keys)
    history.write(
        "allocations.yaml",
        lambda text: text.replace("    audio:", "    sound:").replace("team-audio:", "team-sound:"),
    )
    answer = diff(history)

    assert (answer.code, answer.first) == (
        0,
        "evicts: nobody; opens queues of sound on lab",
    )
    assert answer.sections["Quota"][0] == "~ team audio is now called sound"
    assert not any(line.startswith(("+", "-")) for line in answer.sections["Quota"])
    assert "+ namespace team-sound" in answer.sections["Access"]
    # Nobody loses a role in the old namespace before somebody deletes it.
    assert not any(line.startswith("-") for line in answer.sections["Access"])
    assert (
        "+ team-sound: partition 0x0101 of fabric ib, rails 0-7, 10.64.16.0/20"
        in (answer.sections["Network"])
    )
    assert not any(line.startswith("-") for line in answer.sections["Network"])
    history.commit()


def _retire(history: History) -> None:
    history.put("speech", "retired")
    refused = diff(history)
    assert refused.code == 1
    assert "change/retired-without-draining" in refused.rules

    history.put("speech", "draining")
    history.commit()
    history.put("speech", "retired")
    answer = diff(history)

    assert answer.code == 0
    assert answer.first == (
        "evicts: nobody; takes resources from speech; "
        "takes rights from group speech, group speech-guests, group speech-leads"
    )
    assert answer.sections["Quota"] == [
        "- speech on dgx-h100: 2 nodes",
        "~ pool dgx-h100: head-room 1 -> 3 nodes",
    ]
    # Its Application is still there, so Argo CD deletes nothing of its folder.
    assert {line.partition(": ")[2] for line in answer.sections["Access"]} == {
        "trainyard-catalog-viewer in the whole cluster"
    }
    assert "Network" not in answer.sections
    history.commit()


def _mtu(history: History) -> None:
    history.edit(CLUSTER, "link: infiniband", "link: infiniband\n    mtu: 2048")
    answer = diff(history)

    assert answer.code == 0
    assert answer.first.startswith(
        "drains 9 nodes of dgx-h100 on lab, one after the other, at most "
    )
    drained, because, _ = answer.sections["Disruption"]
    assert drained.endswith("at most 40 running GPUs of nlp, sound")
    assert "2048" in because
    assert answer.sections.keys() == {"Disruption", "Network", "Objects"}
    assert answer.sections["Network"] == ["~ fabric ib: MTU the driver's -> 2048"]
    history.commit()


def _escalate(history: History) -> None:
    history.edit(CLUSTER, "operator: [ml-platform]", "operator: [ml-platform, nlp]")
    answer = diff(history)

    assert answer.sections["Access"] == ["+ group nlp: trainyard-operator in the whole cluster"]
    assert "access/team-group-runs-platform" in answer.rules
    history.restore()


def _upgrade(history: History) -> None:
    """The committed tree is of an older Trainyard, which wrote another label."""
    policies = sorted(history.folder.glob("overlays/lab/teams/nlp/networkpolicy-*.yaml"))
    lockfile = history.folder / "overlays" / "lab" / LOCKFILE
    lock = re.sub('"tool": "[^"]*"', '"tool": "0.0.1"', lockfile.read_text(encoding="utf-8"))
    for path in policies:
        new = path.read_bytes()
        old = new.replace(b"managed-by: trainyard", b"managed-by: trainyard-0")
        path.write_bytes(old)
    lockfile.write_text(lock, encoding="utf-8")
    history.git("commit", "--all", "--message", "older")

    answer = diff(history)
    assert (answer.code, answer.first, answer.sections) == (0, "evicts: nobody", {})
    assert f"NetworkPolicy {len(policies)}" in answer.upgrade

    history.edit(NLP, "admin: [nlp-leads]", "admin: [nlp-heads]")
    answer = diff(history)
    assert answer.sections["Access"][0].startswith("+ group nlp-heads: ")
    assert not any("NetworkPolicy" in line for line in answer.sections["Objects"])
    assert f"NetworkPolicy {len(policies)}" in answer.upgrade
    history.commit()


def test_branches_that_fit_alone_and_not_together(history: History) -> None:
    """Each takes nodes that are free, and there are not enough for both."""
    history.git("switch", "--create", "one")
    history.edit(NLP, "nodes: 2", "nodes: 5")
    assert diff(history).code == 0
    history.commit()
    history.git("switch", "--create", "other", "HEAD~1")
    history.edit(AUDIO, "nodes: 2", "nodes: 5")
    assert diff(history).code == 0
    history.commit()

    code, out = history.trainyard("diff", "--base", "one", "--merge-base")
    assert code == 1
    assert "error[capacity/oversubscribed]" in out


def test_branches_that_edit_the_same_line(history: History) -> None:
    """There is no merge result to look at until somebody decides."""
    history.git("switch", "--create", "one")
    history.edit(NLP, "nodes: 2", "nodes: 3")
    history.commit()
    history.git("switch", "--create", "other", "HEAD~1")
    history.edit(NLP, "nodes: 2", "nodes: 4")
    history.commit()

    code, out = history.trainyard("diff", "--base", "one", "--merge-base")
    assert code == 1
    assert "profiles/teams/nlp.yaml" in out


def test_revert_says_the_opposite(history: History) -> None:
    """What the pull request gave is taken, by the same names."""
    history.edit(NLP, "user: [nlp]", "user: [nlp, guests]")
    given = diff(history).sections["Access"]
    history.commit()
    history.git("restore", "--source", "HEAD~1", "profiles")

    assert diff(history).sections["Access"] == [line.replace("+", "-", 1) for line in given]
