"""``trainyard job``: what it prints where, and its exit codes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calls import Ended, edit
from tests.jobs.cli.admitted import need_admitted
from trainyard.cli.exits import Exit
from trainyard_jobs.fit.verdict import Check, Link, Standing, Verdict
from trainyard_jobs.workflows.job import Made

Call = Callable[..., Ended]
WHERE = ("--team", "nlp", "--cluster", "prod-east")


def test_printed_job_is_what_fit_admits(trainyard: Call, repository: Path) -> None:
    ended = trainyard("job", *WHERE, "--nodes", "2", "--", "python", "train.py", "--lr", "3")
    (repository / "job.yaml").write_text(ended.out, "utf-8")
    judged = trainyard("fit", "job.yaml", *WHERE)

    assert ended.code == Exit.FINE
    assert ended.out.startswith("# A job of team nlp on prod-east, which `trainyard fit` admits")
    assert "# Submit it with: kubectl create -f FILE\n" in ended.out
    assert "  generateName: train-\n" in ended.out
    assert '    - train.py\n    - "--lr"\n    - "3"\n' in ended.out
    need_admitted(judged, "team-nlp/train-xxxxx")


def test_wish_that_cannot_come_true_is_a_wrong_use(trainyard: Call, repository: Path) -> None:
    ended = trainyard("job", *WHERE, "--nodes", "17", "--", "python", "train.py")

    assert repository.is_dir()
    assert (ended.code, ended.out) == (Exit.USAGE, "")
    assert ended.err.startswith("error: no job may have 17 nodes; the runtimes of team nlp on ")


def test_test_takes_the_place_of_a_command(trainyard: Call, repository: Path) -> None:
    ended = trainyard("job", *WHERE, "--test", "ranks")
    neither = trainyard("job", *WHERE)
    both = trainyard("job", *WHERE, "--test", "ranks", "--", "python", "a.py")

    assert repository.is_dir()
    assert ended.code == Exit.FINE
    assert "  generateName: test-ranks-\n" in ended.out
    assert neither.code == both.code == Exit.USAGE
    assert "give either a COMMAND after `--`, or a `--test`" in neither.err


def test_unknown_team_is_a_wrong_use(trainyard: Call, repository: Path) -> None:
    ended = trainyard("job", "--team", "npl", "--cluster", "prod-east", "--", "a")

    assert repository.is_dir()
    assert (ended.code, ended.out) == (Exit.USAGE, "")
    assert "did you mean `nlp`?" in ended.err


def test_findings_of_the_profiles_come_first(trainyard: Call, repository: Path) -> None:
    edit(repository / "profiles" / "teams" / "nlp.yaml", "[openmpi-cuda,", "[openmp,")

    ended = trainyard("job", *WHERE, "--", "a")

    assert (ended.code, ended.out) == (Exit.FINDINGS, "")
    assert "openmp" in ended.err


def test_word_that_is_no_text_is_a_wrong_use(trainyard: Call, repository: Path) -> None:
    ended = trainyard("job", *WHERE, "--", "python", "a.py", "x\udcff")

    assert repository.is_dir()
    assert (ended.code, ended.out) == (Exit.USAGE, "")


def test_job_that_fit_refuses_is_not_printed(
    trainyard: Call, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = Check(Link.POLICIES, Standing.NEVER, "the command is too long")
    made = Made("a job", Verdict("a", "team-nlp", (), (check,)))
    monkeypatch.setattr("trainyard_jobs.cli.commands.job.make_job", lambda *_: made)

    ended = trainyard("job", *WHERE, "--", "python", "a.py")

    assert repository.is_dir()
    assert (ended.code, ended.out) == (Exit.FINDINGS, "")
    assert "team-nlp/a: never\n  admission policies: the command is too long\n" in ended.err
