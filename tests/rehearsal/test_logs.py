"""Errors in the controllers' logs that explain a failure."""

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
    """Return the error that a failure shows after some lines were logged."""
    (folder / f"{program}.log").write_text("", encoding="utf-8")
    since = mark(folder)
    (folder / f"{program}.log").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (failure,) = since.explained(
        counted("local queues active", 1, [Failure(what, "not active", AT)])
    ).failures
    assert (failure.what, failure.words, failure.at) == (what, "not active", AT)
    return failure.logged


def test_line_that_names_the_object_is_shown(tmp_path: Path) -> None:
    """Namespace and name must both match best; repeated errors are counted."""
    wrong, right = zap("team-vision", "gpu", "Too many: 29"), zap("team-nlp", "gpu", "Too many: 21")

    assert explained(tmp_path, QUEUE, wrong, right, right, wrong, wrong) == (
        "kueue: Reconciler error: Too many: 21 (2 times)"
    )
    assert explained(tmp_path, QUEUE, right) == "kueue: Reconciler error: Too many: 21"


@pytest.mark.parametrize(
    ("what", "line", "shown"),
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
def test_each_format_of_log_is_read(tmp_path: Path, what: str, line: str, shown: str) -> None:
    """Conflicts, lines that are not errors, and errors about other objects are ignored."""
    logged = explained(tmp_path, what, line)

    assert logged.startswith(f"kueue: {shown}") if shown else logged == ""


def test_errors_logged_before_the_promise_are_ignored(tmp_path: Path) -> None:
    """A log that was created after the mark is read from its beginning."""
    log = tmp_path / "kueue.log"
    log.write_text(zap("team-nlp", "gpu", "old") + "\n", encoding="utf-8")
    since, bad = mark(tmp_path), counted("x", 1, [Failure(QUEUE, "not active", AT)])
    assert since.explained(bad) == bad
    (tmp_path / "trainer.log").write_text(zap("team-nlp", "gpu", "new") + "\n", encoding="utf-8")

    assert since.explained(bad).failures[0].logged == "trainer: Reconciler error: new"


def test_promise_that_held_has_no_logged_error(tmp_path: Path) -> None:
    since, fine = mark(tmp_path), Outcome("x", 1, 1)
    (tmp_path / "kueue.log").write_text(zap("team-nlp", "gpu", "x") + "\n", encoding="utf-8")

    assert since.explained(fine) is fine
