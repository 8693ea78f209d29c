"""``trainyard convert sagemaker``: what it reads, what it prints where, and its exit codes."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from tests.cli.calls import REPOSITORY, Ended
from tests.jobs.cli.admitted import need_admitted
from trainyard.cli.exits import Exit
from trainyard.yaml_io.manifests import parse_manifests

Call = Callable[..., Ended]
CASES = REPOSITORY / "tests" / "jobs" / "convert" / "sagemaker" / "cases"
WHERE = ("--team", "nlp", "--cluster", "prod-east")


@pytest.mark.parametrize("case", ["pytorch-mpi.py.txt", "torch-description.json"])
def test_result_is_what_fit_admits(trainyard: Call, repository: Path, case: str) -> None:
    """What one command prints is a file for the other."""
    shutil.copy(CASES / case, repository / case)
    ended = trainyard("convert", "sagemaker", case, *WHERE)
    (repository / "result.yaml").write_text(ended.out, "utf-8")
    judged = trainyard("fit", "result.yaml", *WHERE)

    assert ended.code == Exit.FINE
    assert ended.err.splitlines()[-1] == "1 job converted"
    need_admitted(judged, judged.out.partition(": ")[0])


@pytest.mark.parametrize("case", ["pytorch-mpi.py.txt", "each-instance.json"])
def test_standard_input_is_json_or_python(
    trainyard: Call, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO((CASES / case).read_bytes())))

    ended = trainyard("convert", "sagemaker", "-")

    assert "standard input:" in ended.err
    assert len(parse_manifests(ended.out)) == 1


def test_source_is_never_run(trainyard: Call, here: Path) -> None:
    source = 'open("ran", "w"); PyTorch(entry_point=open("ran", "w"), instance_count=1)\n'
    (here / "x.py").write_text(source, "utf-8")

    assert trainyard("convert", "sagemaker", "x.py").code == Exit.FINDINGS
    assert not (here / "ran").exists()


@pytest.mark.parametrize(
    ("name", "content", "ends"),
    [
        ("x.py", "def (", (Exit.IO, "x.py, line 1: this is neither JSON nor Python")),
        ("x.py", "x = 1", (Exit.NO_INPUT, "has neither a training job nor an estimator")),
        ("x.json", "{}", (Exit.NO_INPUT, "has neither a training job nor an estimator")),
        ("x.json", "{", (Exit.IO, "is not YAML that Kubernetes would read")),
    ],
)
def test_what_is_no_training_job(
    trainyard: Call, here: Path, name: str, content: str, ends: tuple[Exit, str]
) -> None:
    (here / name).write_text(content, "utf-8")

    ended = trainyard("convert", "sagemaker", name)

    assert (ended.code, ended.out) == (ends[0], "")
    assert ends[1] in ended.err


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("Estimator(image_uri='x', instance_count=None + None)", Exit.FINDINGS),
        ("Estimator(image_uri='x', instance_count={} + {})", Exit.FINDINGS),
        (f"Estimator(image_uri='x', instance_count=0x{'f' * 5000})", Exit.FINDINGS),
        (f"Estimator(image_uri='x', instance_count='{'9' * 5000}')", Exit.FINDINGS),
        ("Estimator(image_uri='x', environment={'a': {(1, 2): 3}})", Exit.FINE),
        ("Estimator(image_uri='x', hyperparameters={'a': {[]: 3}})", Exit.FINDINGS),
        ("Estimator(image_uri='x', hyperparameters={'a': '\\ud800'})", Exit.FINDINGS),
        ("Estimator(image_uri='x', hyperparameters={'a': dict(**b)})", Exit.FINDINGS),
        ("x = " + "not " * 6000 + "1", Exit.IO),
        ("x = " + "(" * 500 + ")" * 500, Exit.IO),
        ("x = a" + ".b" * 50_000, Exit.IO),
        ("x = " + "1 + " * 20_000 + "1", Exit.IO),
        (f"x = {'9' * 5000}", Exit.IO),
        ("x = 1\0", Exit.IO),
        ("# " + "a" * (256 << 10), Exit.IO),
    ],
    ids=lambda each: str(each)[:60],
)
def test_source_that_python_can_not_evaluate_is_answered(
    trainyard: Call, repository: Path, source: str, code: int
) -> None:
    """No expression of a source ends the command with a bug."""
    (repository / "job.py").write_text(source, "utf-8")
    ended = trainyard("convert", "sagemaker", "job.py")

    assert ended.code == code


def test_names_that_multiply_are_not_followed_for_ever(trainyard: Call, repository: Path) -> None:
    """Three lines of 300 names each stand for 27 million values, and texts grow in the same way."""
    lists = [f"a{n} = [{', '.join([f'a{n - 1}' if n else '1'] * 300)}]" for n in range(3)]
    texts = [f"t0 = '{'x' * 50_000}'", *(f"t{n} = t{n - 1} + t{n - 1}" for n in range(1, 4))]
    for lines, name in ((lists, "a2"), (texts, "t3")):
        call = f"Estimator(image_uri='x', hyperparameters={{'a': {name}}})"
        (repository / "job.py").write_text("\n".join([*lines, call]), "utf-8")
        begin = time.process_time()
        ended = trainyard("convert", "sagemaker", "job.py")

        assert ended.code == Exit.FINDINGS
        assert "its value is not known before the source runs" in ended.err
        assert time.process_time() - begin < 10
