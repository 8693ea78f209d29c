"""The line of a controller's log that explains a failure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trainyard.diagnostics import Pointer
from trainyard_rehearsal.logs import mark
from trainyard_rehearsal.outcome import Failure, Outcome, counted

AT = Pointer("profiles/teams/nlp.yaml")
QUEUE = "LocalQueue team-nlp/gpu"


def zap(namespace: str, name: str, error: str, level: str = "error") -> str:
    """Return a line as Kueue, JobSet and Trainer write it."""
    return json.dumps(
        {
            "level": level,
            "msg": "Reconciler error",
            "namespace": namespace,
            "name": name,
            "error": error,
        }
    )


def explained(folder: Path, what: str, *lines: str, program: str = "kueue") -> str:
    """Return what is told of a failure after some lines were logged."""
    (folder / f"{program}.log").write_text("", encoding="utf-8")
    since = mark(folder)
    (folder / f"{program}.log").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (failure,) = since.explained(
        counted("local queues active", 1, [Failure(what, "not active", AT)])
    ).failures
    assert (failure.what, failure.words, failure.at) == (what, "not active", AT)
    return failure.logged


def test_line_that_names_the_object_is_told(tmp_path: Path) -> None:
    """Of its namespace and its name, before one of another namespace; how often it was logged is
    counted."""
    wrong, right = zap("team-vision", "gpu", "Too many: 29"), zap("team-nlp", "gpu", "Too many: 21")

    assert explained(tmp_path, QUEUE, wrong, right, right, wrong, wrong) == (
        "kueue: Reconciler error: Too many: 21 (2 times)"
    )
    assert explained(tmp_path, QUEUE, right) == "kueue: Reconciler error: Too many: 21"


@pytest.mark.parametrize(
    ("what", "line", "told"),
    [
        (
            "south-platform",
            'time="2026-11-22" level=error msg="sync of south-platform: \\"no\\""',
            "sync of south-",
        ),
        ("south-platform", "time=x level=info msg=south-platform", ""),
        (
            "ClusterQueue nlp-gpu",
            'E1122 10:49:25.316961   18391 a.go:246] "Error" err="nlp-gpu is x"',
            '"Error" err=',
        ),
        ("teams/nlp/localqueue-gpu.yaml", zap("team-nlp", "gpu", "x"), "Reconciler error: x"),
        (
            QUEUE,
            json.dumps({"level": "ERROR", "msg": "failed to apply stage", "err": "gpu"}),
            "failed to apply stage",
        ),
        (QUEUE, zap("team-nlp", "gpu", "x", level="info"), ""),
        (QUEUE, zap("team-nlp", "gpu", "Operation cannot be fulfilled on localqueues"), ""),
        (QUEUE, zap("team-vision", "cpu", "x"), ""),
        (QUEUE, "{no json", ""),
        (QUEUE, "gpu of team-nlp", ""),
    ],
)
def test_each_form_of_log_is_read(tmp_path: Path, what: str, line: str, told: str) -> None:
    """Controllers of four kinds; conflicts, what is no error, and what is about others are passed
    over."""
    logged = explained(tmp_path, what, line)

    assert logged.startswith(f"kueue: {told}") if told else logged == ""


def test_what_was_logged_before_explains_nothing(tmp_path: Path) -> None:
    """Only what was logged while the promise was tried; a log that began meanwhile is read from its
    beginning."""
    log = tmp_path / "kueue.log"
    log.write_text(zap("team-nlp", "gpu", "old") + "\n", encoding="utf-8")
    since, bad = mark(tmp_path), counted("x", 1, [Failure(QUEUE, "not active", AT)])
    assert since.explained(bad) == bad
    (tmp_path / "trainer.log").write_text(zap("team-nlp", "gpu", "new") + "\n", encoding="utf-8")

    assert since.explained(bad).failures[0].logged == "trainer: Reconciler error: new"


def test_promise_that_held_is_not_looked_up(tmp_path: Path) -> None:
    """Errors that nobody suffers from are no finding."""
    since, fine = mark(tmp_path), Outcome("x", 1, 1)
    (tmp_path / "kueue.log").write_text(zap("team-nlp", "gpu", "x") + "\n", encoding="utf-8")

    assert since.explained(fine) is fine
