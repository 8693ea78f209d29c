"""Files that Argo CD does not apply, over a committed tree: `diff` names those that Git shows."""

from __future__ import annotations

import json
from functools import partial

import pytest

from tests.histories import History
from trainyard.model.by_hand import owner_of

pytestmark = pytest.mark.thorough

CLUSTER = "clusters/lab.yaml"
MONITORING = "monitoring: {stack: openshift, logs: {}}"
EDITS = {
    "contact": ("teams/nlp.yaml", "contact: ", "contact: other-", {"alertmanager-routes"}),
    "credentials": (
        CLUSTER,
        "logs: {}",
        "logs: {dropCredentials: true}",
        {"clusterlogforwarder-trainyard-teams"},
    ),
    "logs": (
        CLUSTER,
        MONITORING,
        "monitoring: {stack: openshift}",
        {"clusterlogforwarder-trainyard-teams"},
    ),
    "quota": ("teams/nlp.yaml", "nodes: 2", "nodes: 3", set[str]()),
}


def named(history: History) -> set[str]:
    """Return the files that `diff` names as somebody's to put into use."""
    code, shown = history.trainyard("diff", "--base", "HEAD", "--format", "json")
    assert code == 0, shown
    clusters = json.loads(shown)["result"]["change"]["impact"]["clusters"]
    return {file for cluster in clusters for each in cluster["hands"] for file in each["files"]}


def seen_by_git(history: History) -> set[str]:
    assert history.trainyard("generate")[0] == 0
    history.git("add", "--all")
    changed = history.git("diff", "--cached", "--name-only", "--relative=overlays/lab").split()
    return {path for path in changed if owner_of(path)}


@pytest.mark.parametrize("name", EDITS)
def test_diff_names_each_file_by_hand_that_git_shows(history: History, name: str) -> None:
    profile, old, new, expected = EDITS[name]
    for one, other in ((old, new), (new, old)):
        history.write(profile, partial(_replaced, one, other))
        found = named(history)
        assert found == seen_by_git(history)
        assert {each.partition("/")[2].removesuffix(".yaml") for each in found} == expected
        history.commit()


def _replaced(old: str, new: str, text: str) -> str:
    return text.replace(old, new, 1)
