"""A dump of a cluster's jobs: what is read of it, and which files are none."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.dumps import listed, running, train_job, waiting
from trainyard.diagnostics import TreeError
from trainyard.handed_in import OBJECTS, SNAPSHOT
from trainyard.model.workload import Dump
from trainyard.workflows.dump import dump_of, read_dump


def _broken(**parts: Any) -> str:
    return json.dumps(listed(running("a", 1), {**running("b", 1), **parts}))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        (_broken()[:-40], "is not JSON: "),
        pytest.param("{" * 100_000, "is not JSON: ", id="deep"),
        ("[1, 2", "is not YAML that Kubernetes would read"),
        ('{"kind": "List", "items": {}}', "has a List whose `items` is not a list of objects"),
        ('{"a": 1}', "has a document that is not a Kubernetes object"),
        (
            json.dumps(listed({"apiVersion": "v1", "kind": "Pod"})),
            (
                "has no Workload of kueue.x-k8s.io/v1beta1 or kueue.x-k8s.io/v1beta2; make it with "
                "`kubectl get workloads.kueue.x-k8s.io,"
            ),
        ),
        (
            _broken(apiVersion="kueue.x-k8s.io/v9"),
            "items[1]: its apiVersion is 'kueue.x-k8s.io/v9'",
        ),
        (_broken(metadata={}), "items[1]: metadata has no namespace and name of an object"),
        (_broken(spec={"priority": "high"}), "items[1]: spec.priority is not a priority"),
        (
            _broken(status={"admission": {"podSetAssignments": []}}),
            "items[1]: status.admission.clusterQueue is not the name of a queue",
        ),
        (
            _broken().replace('"8"', '"many"', 1),
            "items[0]: not a quantity: 'many'",
        ),
    ],
)
def test_file_that_is_no_dump_is_refused_with_its_place(
    tmp_path: Path, content: str, message: str
) -> None:
    file = tmp_path / "jobs.json"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(TreeError) as refused:
        read_dump(file)
    assert str(refused.value).startswith(str(file))
    assert message in str(refused.value)


@pytest.mark.parametrize(("start", "limit"), [("{", SNAPSHOT), ("kind: List #", OBJECTS)])
def test_file_that_would_take_too_much_memory_is_refused(
    tmp_path: Path, start: str, limit: int
) -> None:
    file = tmp_path / "jobs.json"
    file.write_text(start, encoding="utf-8")
    os.truncate(file, limit + 1)
    with pytest.raises(TreeError, match=f"is larger than {limit >> 10:,} KiB"):
        read_dump(file)


@pytest.mark.parametrize("job", [running, waiting])
def test_negative_amounts_are_refused(job: Callable[..., dict[str, Any]]) -> None:
    """No API server has one; such a job would free nodes."""
    body = job("a", 1, each={"nvidia.com/gpu": "-8"})
    with pytest.raises(TreeError, match=r"items\[0\]: the amount of nvidia.com/gpu is negative"):
        dump_of("x", [((0, "items", 0), body)])


def test_list_without_jobs_is_that_of_an_idle_cluster(tmp_path: Path) -> None:
    file = tmp_path / "jobs.json"
    file.write_text(json.dumps(listed()), encoding="utf-8")
    assert read_dump(file) == Dump(str(file), ())


def test_jobs_that_have_ended_or_are_deactivated_are_left_out() -> None:
    done = running("done", 1)
    done["status"]["conditions"].append({"type": "Finished", "status": "True"})
    off = waiting("off", 1)
    off["spec"]["active"] = False
    bodies = [done, off, running("here", 1), waiting("next", 1)]
    dump = dump_of("x", [((0, "items", i), each) for i, each in enumerate(bodies)])
    assert [each.job for each in dump.workloads] == ["here", "next"]


def test_runtime_of_a_job_is_that_of_its_trainjob() -> None:
    own = train_job("own", "mine")
    own["spec"]["runtimeRef"]["kind"] = "TrainingRuntime"
    bodies = [
        *(running(name, 1) for name in ("known", "own", "unknown")),
        running("plain", 1, kind="Job"),
        train_job("known", "openmpi-v1"),
        train_job("unknown", "of-another-namespace", "team-vision"),
        own,
    ]
    dump = dump_of("x", [((0, "items", i), each) for i, each in enumerate(bodies)])
    found = {each.job: each.runtime for each in dump.workloads}
    assert found == {"known": "openmpi-v1", "own": "", "unknown": None, "plain": ""}
