"""``trainyard convert sagemaker``: what it reads, what it prints where, and its exit codes."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from tests.cli.calls import REPOSITORY, Ended
from trainyard.cli.exits import Exit
from trainyard.yaml_io.manifests import parse_manifests

Call = Callable[..., Ended]
CASES = REPOSITORY / "tests" / "convert" / "sagemaker" / "cases"
WHERE = ("--team", "nlp", "--cluster", "prod-east")


@pytest.mark.parametrize("case", ["pytorch-mpi.py.txt", "torch-description.json"])
def test_result_is_what_fit_admits(trainyard: Call, repository: Path, case: str) -> None:
    """What one command prints is a file for the other."""
    shutil.copy(CASES / case, repository / case)
    ended = trainyard("convert", "sagemaker", case, *WHERE)
    (repository / "result.yaml").write_text(ended.out, "utf-8")
    judged = trainyard("fit", "result.yaml", *WHERE)

    assert (ended.code, judged.code) == (Exit.FINE, Exit.FINE)
    assert ended.err.splitlines()[-1] == "1 job converted"
    assert ": admitted\n" in judged.out


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
        ("x.json", "{", (Exit.IO, "is no YAML that Kubernetes would read")),
    ],
)
def test_what_is_no_training_job(
    trainyard: Call, here: Path, name: str, content: str, ends: tuple[Exit, str]
) -> None:
    (here / name).write_text(content, "utf-8")

    ended = trainyard("convert", "sagemaker", name)

    assert (ended.code, ended.out) == (ends[0], "")
    assert ends[1] in ended.err
