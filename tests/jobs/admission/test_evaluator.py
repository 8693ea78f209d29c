"""The evaluator is a program: what it is given, and what is made of its answers."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from trainyard.diagnostics import Pointer, ToolError
from trainyard.golang import program_path
from trainyard.model.admission import Answer, Denial, Request
from trainyard.model.manifest import Manifest
from trainyard.profiles.read import PACKAGE
from trainyard_jobs.admission.evaluator import SOURCE, judge_of

POLICY = {"kind": "ValidatingAdmissionPolicy", "metadata": {"name": "p"}}
OTHER = {"kind": "Role", "metadata": {"name": "r"}}
MANIFESTS = [Manifest("x.yaml", body, (), Pointer("x")) for body in (POLICY, OTHER)]
REQUEST = Request({"kind": "TrainJob"}, "trainjobs", "somebody", ("nlp",))


def test_no_release_is_newer_than_the_evaluator() -> None:
    """It refuses a version that it does not know, since CEL libraries come with versions."""
    content = (SOURCE / "go.mod").read_text("utf-8")
    modules = set(
        re.findall(r"\tk8s\.io/(?:api|apimachinery|apiserver|client-go) v0\.(\d+)\.", content)
    )
    releases = PACKAGE.glob("releases/*/release.yaml")
    newest = max(
        int(found[1])
        for path in releases
        if (found := re.search(r'kubernetes: "1\.(\d+)"', path.read_text("utf-8")))
    )

    assert modules == {str(newest)}


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of an evaluator in a cache of its own; there is none yet."""
    monkeypatch.setenv("TRAINYARD_CACHE", str(tmp_path))
    return program_path(SOURCE)


def write(program: Path, answers: str) -> None:
    """Write an evaluator that keeps what it is given, and prints some answers."""
    program.parent.mkdir(parents=True)
    asked = program.parent / "asked.json"
    text = f"import shutil, sys\nshutil.copy(sys.argv[1], {str(asked)!r})\nprint({answers!r})\n"
    program.write_text(f"#!{sys.executable}\n{text}", encoding="utf-8")
    program.chmod(0o755)


@pytest.mark.usefixtures("program")
def test_without_the_program_there_is_no_judge() -> None:
    assert judge_of("1.36", MANIFESTS) is None


def test_policies_and_requests_are_given_and_denials_come_back_sorted(program: Path) -> None:
    denials = [
        {"policy": "z", "binding": "b", "message": "last"},
        {"policy": "a", "binding": "b", "message": "second of its policy"},
        {"policy": "a", "binding": "b", "message": "first"},
    ]
    answers = [{"admitted": False, "error": "denied", "denials": denials}]
    write(program, json.dumps({"answers": answers}))
    judge = judge_of("1.34", MANIFESTS)
    assert judge is not None

    assert judge([REQUEST]) == [
        Answer(
            (
                Denial("a", "b", "second of its policy"),
                Denial("a", "b", "first"),
                Denial("z", "b", "last"),
            ),
            "denied",
        )
    ]
    assert json.loads((program.parent / "asked.json").read_text(encoding="utf-8")) == {
        "version": "1.34",
        "objects": [POLICY],
        "requests": [
            {
                "object": {"kind": "TrainJob"},
                "resource": "trainjobs",
                "user": "somebody",
                "groups": ["nlp"],
            }
        ],
    }


def test_an_admitted_request_has_no_error(program: Path) -> None:
    write(program, json.dumps({"answers": [{"admitted": True, "error": "", "denials": []}]}))
    judge = judge_of("1.34", MANIFESTS)
    assert judge is not None
    (answer,) = judge([REQUEST])

    assert answer.admitted
    assert judge([]) == []


@pytest.mark.parametrize("answers", ["", "{}", "[]"])
def test_other_output_is_a_fault_of_the_program(program: Path, answers: str) -> None:
    write(program, answers)
    judge = judge_of("1.34", MANIFESTS)
    assert judge is not None

    with pytest.raises(ToolError, match="printed no answers"):
        judge([REQUEST])
