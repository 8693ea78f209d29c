"""``trainyard convert mpijob``: what it reads, what it prints where, and its exit codes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from tests.cli.calls import REPOSITORY, Ended, edit
from tests.jobs.cli.admitted import need_admitted
from trainyard.cli.exits import Exit
from trainyard.yaml_io.manifests import parse_manifests

Call = Callable[..., Ended]
CASES = REPOSITORY / "tests" / "jobs" / "convert" / "mpijob" / "cases"
WHERE = ("--team", "nlp", "--cluster", "prod-east")


@pytest.fixture
def job(repository: Path) -> Path:
    return Path(shutil.copy(CASES / "kueue.yaml", repository / "job.yaml"))


def test_result_is_what_fit_admits(trainyard: Call, job: Path) -> None:
    """What one command prints is a file for the other."""
    ended = trainyard("convert", "mpijob", str(job), *WHERE)
    job.with_name("result.yaml").write_text(ended.out, "utf-8")
    judged = trainyard("fit", "result.yaml", *WHERE)

    assert ended.code == Exit.FINE
    assert ended.err.splitlines()[-1] == "1 job converted"
    assert "changed: queue `user-queue`: " in ended.err
    need_admitted(judged, "team-nlp/ablation-of-the-second-and-third-atten-xxxxx")


def test_files_have_a_limit_together(
    trainyard: Call, job: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of files that are small each is read no further than its limit."""
    monkeypatch.setattr("trainyard_jobs.workflows.convert.LARGEST", 2 * job.stat().st_size)
    jobs = job.with_name("jobs")
    jobs.mkdir()
    for number in range(2):
        shutil.copy(job, jobs / f"{number}.yaml")
    assert trainyard("convert", "mpijob", str(jobs), *WHERE).code == Exit.FINE

    shutil.copy(job, jobs / "2.yaml")
    ended = trainyard("convert", "mpijob", str(jobs), *WHERE)
    assert (ended.code, ended.out) == (Exit.IO, "")
    assert "MiB: hand in parts of them" in ended.err


def test_without_a_team_the_runtime_is_left_open(trainyard: Call, job: Path) -> None:
    ended = trainyard("convert", "mpijob", str(job))

    assert ended.code == Exit.FINE
    assert "name: choose-a-runtime\n" in ended.out
    assert "job.yaml:2:1: choose: spec.runtimeRef.name: " in ended.err


def test_standard_input_and_json_are_read(trainyard: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    body = parse_manifests((CASES / "kueue.yaml").read_text("utf-8"))
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": body}, indent=4)
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(text.encode())))

    ended = trainyard("convert", "mpijob", "-")

    assert ended.code == Exit.FINE
    assert "# Converted from MPIJob team-nlp/ablation-of-the-second-" in ended.out
    assert len(parse_manifests(ended.out)) == 1


def test_folder_is_searched(trainyard: Call, here: Path) -> None:
    """Below it too; what has another ending is not a manifest."""
    (here / "jobs" / "old").mkdir(parents=True)
    shutil.copy(CASES / "anchors.yaml", here / "jobs" / "a.yml")
    shutil.copy(CASES / "placed.yaml", here / "jobs" / "old" / "b.yaml")
    (here / "jobs" / "README.md").write_text("{{ no YAML }}", "utf-8")

    ended = trainyard("convert", "mpijob", "jobs")

    assert ended.code == Exit.FINE
    names = [each["metadata"]["name"] for each in parse_manifests(ended.out)]
    assert names == ["anchors", "topology-aware-job"]
    assert ended.err.splitlines()[-1] == "2 jobs converted"


def test_refused_job_prints_its_reasons_only(trainyard: Call, here: Path) -> None:
    shutil.copy(CASES / "mpich.yaml", here / "job.yaml")

    ended = trainyard("convert", "mpijob", "job.yaml")

    assert (ended.code, ended.out) == (Exit.FINDINGS, "")
    assert [line.split(": ")[1] for line in ended.err.splitlines()[1:-1]] == ["refused"]
    assert ended.err.splitlines()[-1] == "0 jobs converted, 1 job not converted"


def test_file_without_an_mpijob_is_no_input(trainyard: Call, here: Path) -> None:
    (here / "job.yaml").write_text("kind: Pod\n", "utf-8")

    ended = trainyard("convert", "mpijob", "job.yaml")

    assert ended.code == Exit.NO_INPUT
    assert ended.err == "error: job.yaml has no MPIJob of kubeflow.org\n"


@pytest.mark.parametrize("text", ["{{ a }}\n", "a: 1\n", "- 1\n", "\0"])
def test_file_that_is_no_manifest_is_an_error(trainyard: Call, here: Path, text: str) -> None:
    (here / "job.yaml").write_text(text, "utf-8")

    assert trainyard("convert", "mpijob", "job.yaml").code == Exit.IO


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--cluster", "lab"), "`--cluster` needs a `--team`"),
        (("--team", "nlp"), "name a `--cluster`"),
        (("--team", "npl", "--cluster", "lab"), "did you mean `nlp`?"),
        (("--team", "vision", "--cluster", "lab"), "there is no team `vision` on lab"),
    ],
)
def test_wrong_use_is_told(
    trainyard: Call, job: Path, arguments: tuple[str, ...], reason: str
) -> None:
    ended = trainyard("convert", "mpijob", str(job), *arguments)

    assert ended.code == Exit.USAGE
    assert reason in ended.err


def test_broken_profiles_are_reported(trainyard: Call, job: Path) -> None:
    edit(job.parent / "profiles/teams/nlp.yaml", "openmpi-cuda", "openmpi-cdua")

    ended = trainyard("convert", "mpijob", str(job), *WHERE)

    assert (ended.code, ended.out) == (Exit.FINDINGS, "")
    assert "openmpi-cdua" in ended.err


def test_hostile_text_ends_no_comment(trainyard: Call, here: Path) -> None:
    """Text of a job never becomes YAML of the result, nor a command of a CI system."""
    text = (CASES / "anchors.yaml").read_text("utf-8")
    name = '"a\\nkind: Pod\\n##[error]"'
    (here / "job.yaml").write_text(text.replace("nodeSelector: {pool: a}", f"{name}: 1"), "utf-8")

    ended = trainyard("convert", "mpijob", "job.yaml")

    assert ended.code == Exit.FINE
    assert "\nkind: Pod" not in ended.out
    assert "##[" not in ended.err
    assert [each["kind"] for each in parse_manifests(ended.out)] == ["TrainJob"]


@pytest.mark.parametrize(
    ("items", "reason"),
    [
        ("7", "has a List whose `items` is not a list of objects"),
        ("{a: b}", "has a List whose `items` is not a list of objects"),
        ("[7]", "has a document that is not a Kubernetes object"),
        ("null", "has no MPIJob of kubeflow.org"),
    ],
)
def test_list_with_something_else_is_not_passed_over(
    trainyard: Call, here: Path, items: str, reason: str
) -> None:
    """What is not an object of a List is named; an empty List has no MPIJob."""
    (here / "job.yaml").write_text(f"kind: List\nitems: {items}\n", "utf-8")

    ended = trainyard("convert", "mpijob", "job.yaml")

    assert ended.code == (Exit.NO_INPUT if items == "null" else Exit.IO)
    assert reason in ended.err
