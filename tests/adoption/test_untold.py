"""What nothing else of an import names is listed by kind and name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.adoption.sites import Body, body, claim, flavor, node
from tests.cli.calls import Ended
from tests.cli.fixtures import here, trainyard  # noqa: F401
from trainyard.adoption.wording import choose

Call = Callable[..., Ended]
LABELS = {"corp.example/Cost-Centre": "1202", "corp.example/rack": "r1"}


def page_of(trainyard: Call, here: Path, *objects: Body) -> str:  # noqa: F811
    """Return the page of an import of one team with some objects."""
    queue = body("kueue.x-k8s.io/v1beta2", "ClusterQueue", "nlp", spec={})
    local = body("kueue.x-k8s.io/v1beta2", "LocalQueue", "q", "nlp", spec={"clusterQueue": "nlp"})
    space = body("v1", "Namespace", "nlp")
    space["metadata"]["labels"] = LABELS
    usual = [flavor("a", {"pool": "a"}), node("n1", labels={"pool": "a"}), queue, local, space]
    dump = {"apiVersion": "v1", "kind": "List", "items": [*usual, *objects]}
    (here / "dump.json").write_text(json.dumps(dump), "utf-8")
    assert trainyard("import", "dump.json", "--cluster", "site").code == 1
    return (here / "adoption/site.md").read_text("utf-8")


def test_what_nobody_names_stays_and_is_listed_by_kind(trainyard: Call, here: Path) -> None:  # noqa: F811
    found = [
        body("v1", "Service", "llm", "inference"),
        body("v1", "Service", "hub", "notebooks"),
        body("jobset.x-k8s.io/v1alpha2", "JobSet", "align", "nlp"),
        body("v1", "Namespace", "inference"),
    ]
    text = page_of(trainyard, here, *found)
    why = "stays as it is; the tree has nothing of this name"
    assert f"- Service: inference/llm, notebooks/hub: {why}\n" in text
    assert f"- JobSet: nlp/align: {why}\n" in text
    assert f"- Namespace: inference: {why}\n" in text


def test_what_is_named_or_made_by_a_controller_is_not_listed(trainyard: Call, here: Path) -> None:  # noqa: F811
    owner = {"kind": "CronJob", "name": "tidy", "controller": True}
    made = body("batch/v1", "Job", "tidy-1", "inference")
    made["metadata"]["ownerReferences"] = [owner]
    found = [
        made,
        body("v1", "Secret", "token", "inference"),
        body("v1", "Service", "dns", "kube-system"),
        *[claim("nlp", "datasets", "1Ti", "ReadWriteMany", "pv-1")],
    ]
    text = page_of(trainyard, here, *found)
    assert "stays as it is; the tree has nothing" not in text
    assert "token" not in text


def test_limits_beside_the_tree_are_named_with_what_they_hold(trainyard: Call, here: Path) -> None:  # noqa: F811
    limits = [{"type": "Container", "max": {"cpu": "8"}}]
    found = [
        body("v1", "ResourceQuota", "objects", "nlp", spec={"hard": {"pods": "40"}}),
        body("v1", "LimitRange", "small", "nlp", spec={"limits": limits}),
    ]
    text = page_of(trainyard, here, *found)
    assert (
        "ResourceQuota nlp/objects: it stays, and the tree's jobs count in it too: pods 40" in text
    )
    assert "LimitRange nlp/small: it stays, and pods of the tree's jobs must keep it too" in text


def test_label_of_a_cost_center_is_a_choice(trainyard: Call, here: Path) -> None:  # noqa: F811
    page_of(trainyard, here)
    profile = (here / "profiles/teams/nlp.yaml").read_text("utf-8")
    label = "label corp.example/Cost-Centre of namespace nlp"
    assert choose(f'costCenter: "1202"; {label}') in profile
    assert "rack" not in profile
