"""Names of queues that users' manifests have."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.adoption.sites import Body, body, flavor, local, node, queue
from tests.cli.calls import Ended
from tests.cli.fixtures import here, trainyard  # noqa: F401

Call = Callable[..., Ended]


def site() -> list[Body]:
    """Two teams: one whose queue has nodes of both classes, and one with names of all forms."""
    gpus, cores = {"example.com/pool": "gpus"}, {"example.com/pool": "cores"}
    on_gpus = {"gpus": {"nvidia.com/gpu": "8"}}
    return [
        node("n1", labels=gpus),
        node("n2", gpus=0, labels=cores),
        flavor("gpus", gpus),
        flavor("cores", cores),
        queue("vision", "", {**on_gpus, "cores": {"cpu": "100"}}),
        queue("text", "", on_gpus),
        *(body("v1", "Namespace", name) for name in ("vision", "text", "text-dev", "text-lab")),
        local("vision", "jobs", "vision"),
        *(local("text", name, "text") for name in ("a.b", "Old", "gpu", "default", "x" * 64, "c")),
        local("text-dev", "c", "text"),
    ]


@pytest.fixture
def drafts(trainyard: Call, here: Path) -> Path:  # noqa: F811
    dump = {"apiVersion": "v1", "kind": "List", "items": [*site(), local("text-lab", "d", "text")]}
    (here / "dump.json").write_text(json.dumps(dump), "utf-8")
    assert trainyard("import", "dump.json", "--cluster", "site").code == 1
    return here


def test_names_stay_where_a_profile_can_give_them(drafts: Path) -> None:
    """Reserved ones are there without a key; a name of several classes is a choice."""
    text = (drafts / "profiles/teams/text.yaml").read_text("utf-8")
    assert "queues: {gpu: [a.b, c]} # LocalQueues in text\n" in text
    assert "  dev: {namespace: text-dev, queues: {gpu: [c]}} #" in text
    assert "  lab: {namespace: text-lab, queues: {gpu: [d]}} #" in text
    vision = (drafts / "profiles/teams/vision.yaml").read_text("utf-8")
    choice = "queues: {cpu: [jobs]} or {gpu: [jobs]}; LocalQueue jobs leads to both, and will lead"
    assert f"# choose: {choice} to one\n" in vision


def test_the_table_says_what_each_name_becomes(drafts: Path) -> None:
    rows = json.loads((drafts / "adoption/site.json").read_text("utf-8"))["result"]["rows"]
    found = {row["was"]: row["becomes"] for row in rows if row["resource"] == "LocalQueue"}
    assert found == {
        "text/Old": "text/gpu",
        "text/a.b": "text/a.b",
        "text/c": "text/c",
        "text/default": "text/default",
        "text/gpu": "text/gpu",
        f"text/{'x' * 64}": "text/gpu",
        "text-dev/c": "text-dev/c",
        "text-lab/d": "text-lab/d",
        "vision/jobs": "choose",
    }
