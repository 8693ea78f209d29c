"""``trainyard convert pytorchjob``: what it reads, and that `fit` admits what it prints."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from tests.cli.calls import REPOSITORY, Ended
from tests.jobs.cli.admitted import need_admitted
from trainyard.cli.exits import Exit

Call = Callable[..., Ended]
CASES = REPOSITORY / "tests" / "jobs" / "convert" / "pytorchjob" / "cases"
WHERE = ("--team", "nlp", "--cluster", "prod-east")


def test_result_is_what_fit_admits(trainyard: Call, repository: Path) -> None:
    shutil.copy(CASES / "two-nodes-torchrun.yaml", repository / "llm.yaml")

    ended = trainyard("convert", "pytorchjob", "llm.yaml", *WHERE)
    (repository / "result.yaml").write_text(ended.out, "utf-8")
    judged = trainyard("fit", "result.yaml", *WHERE)

    assert ended.code == Exit.FINE
    need_admitted(judged, "team-nlp/llm")


def test_file_without_a_pytorchjob_is_no_input(trainyard: Call, repository: Path) -> None:
    (repository / "x.yaml").write_text("apiVersion: v1\nkind: Pod\n", "utf-8")

    ended = trainyard("convert", "pytorchjob", "x.yaml")

    assert ended.code == Exit.NO_INPUT
    assert "no PyTorchJob of kubeflow.org" in ended.err
