"""``trainyard diff --jobs``: the jobs of a dump that a change hits, over a committed tree."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from tests.cli.calls import Ended
from tests.cli.test_diff import commit, platform, replace  # noqa: F401 - a fixture among them
from tests.dumps import listed, running, train_job, waiting
from trainyard.cli.exits import Exit
from trainyard.schema.published import document_schema

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("platform")]
Call = Callable[..., Ended]
QUOTA = ("teams/nlp.yaml", "nodes: 8, borrow: 8", "nodes: 6, borrow: 10")
JOBS = listed(
    running("bert", 6, priority=("production", 1000)),
    running("llm", 4, priority=("batch", 500)),
    running("tiny", 1, "team-science"),
    running("foreign", 1, "kubeflow", queue="x"),
    waiting("next", 2),
    train_job("bert", "openmpi-cuda-v3-dgx-h100"),
)


def written(bodies: Any, name: str = "jobs.json") -> Path:
    """Write a dump beside the repository, so that no comparison sees it."""
    file = Path("..", name).resolve()
    file.write_text(bodies if isinstance(bodies, str) else json.dumps(bodies), encoding="utf-8")
    return file


def sections(text: str) -> dict[str, list[str]]:
    """Return the lines below each heading of the only cluster."""
    found: dict[str, list[str]] = {}
    title = ""
    for line in text.splitlines():
        if line.startswith("  ") and line[2:3].isalpha():
            title = line.strip()
        elif line.startswith("    "):
            found.setdefault(title, []).append(line.strip())
        else:
            title = ""
    return found


def test_edit_revert_and_next_edit_over_a_committed_tree(trainyard: Call) -> None:
    file = written(JOBS)
    with_jobs = f"--jobs=prod-east={file}"
    replace(*QUOTA)
    idle = trainyard("diff", f"--jobs=prod-east={written(listed(), 'idle.json')}")
    assert sections(idle.out)["Running jobs"] == ["no job of a team runs"]
    first = trainyard("diff", "--base=main", with_jobs)
    assert first.code == Exit.FINE, first.out + first.err
    assert sections(first.out)["Running jobs"] == [
        (
            "! TrainJob team-nlp/llm: 32 GPUs on 4 nodes of dgx-h100, with quota since "
            "2026-11-20T08:00:00Z"
        ),
        "may be evicted, because: quota of team `nlp` on `dgx-h100` 8 -> 6 nodes",
        "not hit: 2 other running jobs of teams",
        "not judged: 1 job in namespaces of no team",
    ]
    assert "Waiting jobs" not in sections(first.out)

    assert trainyard("generate").code == Exit.FINE
    commit()
    assert trainyard("diff", with_jobs).out.startswith("nothing changes\n")
    replace(QUOTA[0], QUOTA[2], QUOTA[1])
    reverted = trainyard("diff", with_jobs).out
    assert sections(reverted)["Running jobs"] == [
        "not hit: 3 running jobs of teams",
        "not judged: 1 job in namespaces of no team",
    ]

    assert trainyard("generate").code == Exit.FINE
    commit()
    replace("teams/nlp.yaml", "contact:", "state: draining\ncontact:")
    drained = sections(trainyard("diff", with_jobs).out)
    assert drained["Running jobs"][:3] == [
        (
            "! TrainJob team-nlp/bert: 48 GPUs on 6 nodes of dgx-h100, with quota since "
            "2026-11-20T08:00:00Z"
        ),
        (
            "! TrainJob team-nlp/llm: 32 GPUs on 4 nodes of dgx-h100, with quota since "
            "2026-11-20T08:00:00Z"
        ),
        "is evicted, because: queues of team `nlp` are drained",
    ]
    assert drained["Waiting jobs"] == [
        (
            "! TrainJob team-nlp/next does not start while ClusterQueue `nlp-gpu` has `stopPolicy: "
            "HoldAndDrain`"
        )
    ]


def test_json_and_markdown_name_the_same_jobs(trainyard: Call) -> None:
    file = written(JOBS)
    replace(*QUOTA)
    ended = trainyard("diff", "--jobs", f"prod-east={file}", "--format=json")
    comment = trainyard("diff", "--jobs", f"prod-east={file}", "--format=markdown").out

    document = json.loads(ended.out)
    Draft7Validator(document_schema("diff")).validate(document)
    (cluster,) = document["result"]["change"]["impact"]["clusters"]
    assert [each["job"] for each in cluster["jobs"]["hits"]] == ["llm"]
    assert {name: cluster["jobs"][name] for name in ("running", "waiting", "foreign")} == {
        "running": 3,
        "waiting": 1,
        "foreign": 1,
    }
    assert "Running jobs\n\n```diff\n! TrainJob team-nlp/llm: " in comment

    without = json.loads(trainyard("diff", "--format=json").out)
    Draft7Validator(document_schema("diff")).validate(without)
    assert without["result"]["change"]["impact"]["clusters"][0]["jobs"] is None


def test_yaml_and_standard_input_are_read_as_json_is(
    trainyard: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace(*QUOTA)
    wanted = trainyard("diff", "--jobs", f"prod-east={written(JOBS)}").out
    file = written(yaml.safe_dump(JOBS), "jobs.yaml")
    assert trainyard("diff", "--jobs", f"prod-east={file}").out == wanted
    stdin = io.TextIOWrapper(io.BytesIO(json.dumps(JOBS).encode()))
    monkeypatch.setattr("sys.stdin", stdin)
    assert trainyard("diff", "--jobs", "prod-east=-").out == wanted


def test_jobs_of_a_cluster_that_does_not_change_are_not_named(trainyard: Call) -> None:
    replace(*QUOTA)
    ended = trainyard("diff", "--jobs", f"lab={written(listed(running('a', 1)))}")
    assert ended.code == Exit.FINE
    assert "Running jobs" not in sections(ended.out)


def test_unclear_cluster_is_a_wrong_use(trainyard: Call) -> None:
    file = written(JOBS)
    for words, message in (
        (("jobs.json",), "`jobs.json` is not `CLUSTER=FILE`"),
        (("=jobs.json",), "is not `CLUSTER=FILE`"),
        (("prod-east=",), "is not `CLUSTER=FILE`"),
        ((f"prod-esat={file}",), "there is no cluster `prod-esat`; did you mean `prod-east`?"),
        ((f"lab={file}", f"lab={file}"), "`--jobs` names cluster `lab` twice"),
        ((f"lab={file}", "--cluster=x"), "`--jobs` names `lab`, which `--cluster` leaves out"),
    ):
        options = [word if word.startswith("--") else f"--jobs={word}" for word in words]
        ended = trainyard("diff", *options)
        assert ended.code == Exit.USAGE, words
        assert message in ended.err


def test_file_that_is_no_dump_is_refused(trainyard: Call) -> None:
    replace(*QUOTA)
    for file, message in (
        (written(json.dumps(JOBS)[:-40]), "is not JSON: "),
        (written(listed(running("a", 1, "team-x")), "other.json"), "from another cluster?"),
    ):
        ended = trainyard("diff", f"--jobs=prod-east={file}")
        assert (ended.code, ended.out) == (Exit.IO, "")
        assert f"error: {file} " in ended.err
        assert message in ended.err
