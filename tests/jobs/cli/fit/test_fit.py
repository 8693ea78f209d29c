"""``trainyard fit``: verdicts as text and JSON, exit codes, and what it can't read."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from tests.cli.calls import REPOSITORY, Ended
from trainyard.cli.exits import Exit

Call = Callable[..., Ended]
SAMPLE = "overlays/prod-east/samples/nlp/openmpi-cuda.yaml"
WHERE = ("--team", "nlp", "--cluster", "prod-east")


@pytest.fixture(autouse=True)
def no_evaluator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a cache without programs, whatever is built on this machine."""
    monkeypatch.setenv("TRAINYARD_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def job(repository: Path) -> Path:
    """Return a copy of a sample, with `job.yaml` as its name."""
    return Path(shutil.copy(REPOSITORY / SAMPLE, repository / "job.yaml"))


def edited(job: Path, old: str, new: str) -> Path:
    text = job.read_text("utf-8")
    assert old in text
    job.write_text(text.replace(old, new), "utf-8")
    return job


def test_sample_is_admitted_as_far_as_judged(trainyard: Call, job: Path) -> None:
    """Verdict and exit code say that the evaluator is not built."""
    ended = trainyard("fit", str(job), *WHERE)

    assert (ended.code, ended.err) == (Exit.IO, "")
    lines = ended.out.splitlines()
    first = "team-nlp/nlp-openmpi-cuda: admitted as far as judged"
    assert lines[:2] == [first, "  pods: node 1, launcher 1"]
    assert [line.split(": ")[1] for line in lines[2:]] == ["admission policies", "Pod Security"]


def test_large_job_never_starts(trainyard: Call, job: Path) -> None:
    ended = trainyard("fit", str(edited(job, "numNodes: 2", "numNodes: 40")), *WHERE)

    assert ended.code == Exit.FINDINGS
    assert "team-nlp/nlp-openmpi-cuda: never\n  pods: node 39, launcher 1\n" in ended.out
    assert "  admission policies: spec.trainer.numNodes: 40 is not from 2 to 16\n" in ended.out
    assert "  quota: requested 320 nvidia.com/gpu" in ended.out
    assert "\n   --> profiles/teams/nlp.yaml:10:33\n  = limit: 128 nvidia.com/gpu" in ended.out
    assert "= help: set spec.trainer.numNodes to 16\n" in ended.out


@pytest.mark.parametrize(
    ("amounts", "fault"),
    [
        (
            {"limits": {"nvidia.com/gpu": 64}},
            "requests 8 nvidia.com/gpu, and its limit of 64 must be equal",
        ),
        (
            {"limits": {"nvidia.com/gpu": 0}},
            "requests 8 nvidia.com/gpu, and its limit of 0 must be equal",
        ),
        ({"limits": {"cpu": "100m"}}, "its limit of 100m must not be less"),
        ({"limits": {"memory": "1Ki"}}, "its limit of 1Ki must not be less"),
        ({"limits": {"x.com/y": 1}, "requests": {"x.com/y": 2}}, "requests 2 x.com/y, and its"),
        ({"requests": {"x.com/y": 1}}, "requests 1 x.com/y without a limit"),
        ({"requests": {"hugepages-2Mi": "2Mi"}}, "requests 2Mi hugepages-2Mi without a limit"),
        ({"limits": {"x.com/y": "1500m"}}, "asks for 1500m x.com/y, which must be a whole number"),
        ({"requests": {"nvidia.com/gpu": -1}}, "-1 nvidia.com/gpu is below 0"),
        ({"limits": {"cpu": "-1"}}, "-1 cpu is below 0"),
        ({"limits": {"nvidia.com/gpu": "9" * 5000}}, "not a quantity: '999"),
    ],
)
def test_amounts_that_no_container_can_have_never_start(
    trainyard: Call, job: Path, amounts: dict[str, Any], fault: str
) -> None:
    """The API server refuses each Job of the TrainJob; no other program is needed to see it."""
    written = f"numNodes: 2\n    resourcesPerNode: {json.dumps(amounts)}"
    ended = trainyard("fit", str(edited(job, "numNodes: 2", written)), *WHERE)

    assert ended.code == Exit.FINDINGS
    assert "\n  form: " in ended.out
    assert fault in ended.out
    assert "remove spec.trainer.resourcesPerNode" in ended.out


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ("kueue.x-k8s.io/queue-name: [gpu]", 'queue-name"]: ["gpu"] is not of type "string"'),
        ("kueue.x-k8s.io/queue-name: {a: b}", 'queue-name"]: {"a":"b"} is not of type "string"'),
        ("kueue.x-k8s.io/queue-name: 8", 'queue-name"]: 8 is not text: write it in quotes, "8"'),
    ],
)
def test_label_that_is_no_text_is_a_fault_of_the_form(
    trainyard: Call, job: Path, written: str, fault: str
) -> None:
    labels = f"  namespace: team-nlp\n  labels: {{{written}}}"
    text = job.read_text("utf-8").partition("  labels:\n")
    job.write_text(text[0] + re.sub(r"\A( {4}.*\n)+", "", text[2]), "utf-8")
    ended = trainyard("fit", str(edited(job, "  namespace: team-nlp", labels)), *WHERE)

    assert ended.code == Exit.FINDINGS
    assert fault in ended.out


@pytest.mark.parametrize(
    "number", ["9" * 5000, f"-{'9' * 5000}", f"0x{'f' * 5000}"], ids=["large", "small", "hex"]
)
def test_number_of_thousands_of_digits_is_a_fault_of_the_form(
    trainyard: Call, job: Path, number: str
) -> None:
    ended = trainyard("fit", str(edited(job, "numNodes: 2", f"numNodes: {number}")), *WHERE)

    assert ended.code == Exit.FINDINGS
    assert "form: spec.trainer.numNodes: " in ended.out


def test_closed_standard_input_is_a_sentence(
    trainyard: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `fit - <&-` has it."""
    monkeypatch.setattr("sys.stdin", None)
    message = "error: standard input can't be read: it is closed\n"

    assert trainyard("fit", "-", *WHERE) == Ended(Exit.IO, "", message)


def test_other_name_of_standard_input_is_answered_with_the_right_one(
    trainyard: Call, job: Path, tmp_path: Path
) -> None:
    """`/dev/stdin` is a link to a pipe, as a process substitution is."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "stdin").symlink_to(job)
    for name in (pipe, tmp_path / "stdin"):
        ended = trainyard("fit", str(name), *WHERE)
        assert ended.code == Exit.IO
        assert "pipe what another program prints to standard input, and name it `-`" in ended.err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"- a: bcdef\n" * 400_000, "is larger than 4,096 KiB"),
        (b"a: [" + b"[]," * 300_000 + b"]", "more than 250,000 values"),
        (b"[" * 5000, "more than 100 levels"),
    ],
    ids=["long", "many", "deep"],
)
def test_file_that_takes_much_memory_is_refused(
    trainyard: Call, repository: Path, content: bytes, message: str
) -> None:
    """Twenty megabytes of YAML would take 2.7 GB."""
    (repository / "job.yaml").write_bytes(content)
    ended = trainyard("fit", "job.yaml", *WHERE)

    assert ended.code == Exit.IO
    assert message in ended.err


INFINITE: dict[str, Any] = {"kind": "Workload", "spec": {"priority": float("inf")}}
INFINITE |= {"status": {"admission": {"clusterQueue": "a"}}}


@pytest.mark.parametrize(
    "content",
    [
        json.dumps({"kind": "List", "items": [INFINITE]}),
        f'{{"kind": "List", "items": [{"9" * 5000}]}}',
        "[" * 100_000,
    ],
    ids=["infinite", "digits", "deep"],
)
def test_snapshot_that_no_cluster_has_is_a_sentence(
    trainyard: Call, job: Path, repository: Path, content: str
) -> None:
    (repository / "usage.json").write_text(content, "utf-8")
    ended = trainyard("fit", str(job), *WHERE, "--usage", "usage.json")

    assert (ended.code, ended.err.count("\n")) == (Exit.IO, 1)


def used(nodes: int) -> dict[str, Any]:
    """Return a list of a ClusterQueue of which some nodes are in use."""
    total = {"nvidia.com/gpu": 8 * nodes, "cpu": 208 * nodes}
    resources = [{"name": name, "total": str(amount)} for name, amount in total.items()]
    reserved = [{"name": "dgx-h100", "resources": resources}]
    queue = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": "nlp-gpu"},
        "status": {"flavorsReservation": reserved},
    }
    others = [
        {**queue, "metadata": {"name": f"{team}-gpu"}, "status": {"flavorsReservation": []}}
        for team in ("science", "vision")
    ]
    return {"apiVersion": "v1", "kind": "List", "items": [queue, *others]}


def test_job_waits_for_what_a_snapshot_shows(trainyard: Call, job: Path) -> None:
    usage = job.parent / "usage.json"
    usage.write_text(json.dumps(used(10)), "utf-8")
    edited(job, "numNodes: 2", "numNodes: 12")
    ended = trainyard("fit", str(job), *WHERE, "--usage", str(usage))

    assert ended.code == Exit.FINE
    assert ended.out.startswith("team-nlp/nlp-openmpi-cuda: waits\n")
    assert "  = usage: 80 nvidia.com/gpu\n  = available: 48 nvidia.com/gpu\n" in ended.out
    assert "  = help: set spec.trainer.numNodes to 6\n" in ended.out


def test_claim_that_is_missing_is_shown_with_what_helps(trainyard: Call, job: Path) -> None:
    ended = trainyard("fit", str(edited(job, "claimName: home", "claimName: hone")), *WHERE)

    assert ended.out.startswith("team-nlp/nlp-openmpi-cuda: admitted as far as judged\n")
    assert "  volumes: the profiles have no claim hone; unless there is one, pods" in ended.out
    assert "  = help: set claimName to home\n" in ended.out


def test_waiting_job_shows_its_missing_claim(trainyard: Call, job: Path) -> None:
    usage = job.parent / "usage.json"
    usage.write_text(json.dumps(used(10)), "utf-8")
    edited(edited(job, "numNodes: 2", "numNodes: 12"), "claimName: home", "claimName: hone")
    ended = trainyard("fit", str(job), *WHERE, "--usage", str(usage))

    assert ended.out.startswith("team-nlp/nlp-openmpi-cuda: waits\n")
    assert "  volumes: the profiles have no claim hone" in ended.out


def test_snapshot_of_another_cluster_judges_no_job(trainyard: Call, job: Path) -> None:
    usage = job.parent / "usage.json"
    other = used(0)["items"][0] | {"metadata": {"name": "other"}}
    usage.write_text(json.dumps(other), "utf-8")
    ended = trainyard("fit", str(job), *WHERE, "--usage", str(usage))

    assert ended.code == Exit.IO
    assert ended.out.startswith("team-nlp/nlp-openmpi-cuda: not judged\n")
    assert "not judged: quota: the snapshot has no ClusterQueue nlp-gpu" in ended.out


@pytest.mark.parametrize("nodes", [2, 40])
def test_json_follows_its_published_schema(trainyard: Call, job: Path, nodes: int) -> None:
    edited(job, "numNodes: 2", f"numNodes: {nodes}")
    ended = trainyard("fit", str(job), *WHERE, "--format", "json")
    printed = json.loads(trainyard("schema", "fit").out)

    Draft7Validator.check_schema(printed)
    Draft7Validator(printed).validate(json.loads(ended.out))
    assert ended.code == (Exit.IO if nodes == 2 else Exit.FINDINGS)


def test_several_jobs_are_judged_and_others_counted(trainyard: Call, job: Path) -> None:
    text = job.read_text("utf-8")
    other = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"
    job.write_text(f"{text}---\n{text.replace('numNodes: 2', 'numNodes: 40')}---\n{other}", "utf-8")
    ended = trainyard("fit", str(job), *WHERE)

    assert ended.code == Exit.FINDINGS
    assert ended.out.endswith("\n\n1 object of other kinds not judged\n")
    assert (ended.out.count(": admitted as"), ended.out.count(": never\n")) == (1, 1)


def test_hostile_names_stay_on_their_line(trainyard: Call, job: Path) -> None:
    edited(job, "name: nlp-openmpi-cuda", 'name: "x\\e[31m\\nteam-nlp/x: admitted"')
    ended = trainyard("fit", str(job), *WHERE)

    assert ended.code == Exit.FINDINGS
    assert "\x1b" not in ended.out
    assert "\nteam-nlp/x: admitted" not in ended.out


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("apiVersion: v1\nkind: ConfigMap\n", Exit.NO_INPUT),
        ("", Exit.NO_INPUT),
        ("- a\n", Exit.IO),
        ("a: &x 1\nb: *y\n", Exit.IO),
        ("kind: 1\n", Exit.NO_INPUT),
    ],
)
def test_file_without_a_job_is_no_success(
    trainyard: Call, job: Path, content: str, code: int
) -> None:
    job.write_text(content, "utf-8")

    assert trainyard("fit", str(job), *WHERE).code == code


def test_job_from_standard_input_shows_the_assumed_namespace(
    trainyard: Call, job: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = job.read_bytes().replace(b"  namespace: team-nlp\n", b"")
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(content)))
    ended = trainyard("fit", "-", *WHERE)

    assert (ended.code, ended.err) == (Exit.IO, "")
    assert "\n  namespace: the job names none, so it is judged in team-nlp\n" in ended.out


@pytest.mark.parametrize("content", ["", "- a\n", "a: *y\n", "\udcff"])
def test_standard_input_is_named_in_messages(
    trainyard: Call, content: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = content.encode("utf-8", "surrogateescape")
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(raw)))

    assert trainyard("fit", "-", *WHERE).err.startswith("error: standard input ")


def queue(**status: Any) -> str:
    return json.dumps({**used(1)["items"][0], "status": status})


@pytest.mark.parametrize(
    "content",
    [
        "",
        "a: b",
        "[]",
        "1",
        "[" * 100_000,
        json.dumps({"kind": "Node"}),
        json.dumps({"kind": "List", "items": []}),
        queue(flavorsReservation=[{"name": "a", "resources": [{"name": "cpu", "total": "much"}]}]),
    ],
)
def test_snapshot_without_usage_is_refused(trainyard: Call, job: Path, content: str) -> None:
    usage = job.parent / "usage.json"
    usage.write_text(content, "utf-8")
    ended = trainyard("fit", str(job), *WHERE, "--usage", str(usage))

    assert (ended.code, ended.out) == (Exit.IO, "")
    assert "usage.json" in ended.err


@pytest.mark.parametrize(
    "args",
    [
        (),
        ("job.yaml",),
        ("job.yaml", "--team", "nlp"),
        ("job.yaml", "--team", "nlq", "--cluster", "prod-east"),
        ("job.yaml", "--team", "nlp", "--cluster", "prod"),
        ("missing.yaml", *WHERE),
    ],
)
@pytest.mark.usefixtures("job")
def test_wrong_usage_ends_with_2(trainyard: Call, args: tuple[str, ...]) -> None:
    assert trainyard("fit", *args).code == Exit.USAGE


@pytest.mark.parametrize("form", ["text", "json"])
def test_findings_of_the_profiles_come_first(trainyard: Call, job: Path, form: str) -> None:
    team = job.parent / "profiles/teams/nlp.yaml"
    team.write_text(team.read_text("utf-8").replace("openmpi-cuda", "openmpi", 1), "utf-8")
    ended = trainyard("fit", str(job), *WHERE, "--format", form)

    assert ended.code == Exit.FINDINGS
    assert "openmpi" in ended.out
    assert "admitted" not in ended.out
