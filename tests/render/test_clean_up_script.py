"""The script of the clean-up, run by a real shell with a kubectl that lists what it is asked."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.rules.cases import platform_of
from trainyard.render.site import render_site

_IMAGE = f"registry.example.com/platform/kubectl@sha256:{'1' * 64}"
_KUBECTL = """#!/bin/sh
while [ "$1" != --namespace ]; do [ $# -gt 0 ] || exit 1; shift; done
echo "$2" >> "$SEEN"
[ "$2" != "$KILLED" ] || kill -KILL "$PPID"
[ "$2" != "$FAILED" ]
"""
_DATE = """#!/bin/sh
case "$*" in *%s*) echo "$((HOUR * 3600 + 1020))";; *) echo 2026-11-26T00:17:00Z;; esac
"""
_NAMESPACES = ["team-a", "team-b", "team-c", "team-d"]


def _command() -> list[str]:
    (site,) = platform_of(
        {"clusters/prod-east.yaml": {"finishedJobs": {"keep": "3d", "image": _IMAGE}}}
    ).sites
    (cron,) = (each.body for each in render_site(site) if each.body["kind"] == "CronJob")
    (container,) = cron["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    command: list[str] = container["command"]
    return command


def _visited(
    tmp_path: Path, hour: int, namespaces: list[str], failed: str = "", killed: str = ""
) -> tuple[int, list[str]]:
    """Return the exit code and the namespaces of a run."""
    seen = tmp_path / f"seen-{hour}"
    seen.touch()
    for name, text in (("kubectl", _KUBECTL), ("date", _DATE)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(
        _command(),
        env={
            "PATH": f"{tmp_path}:/usr/bin:/bin",
            "FINISHED": "%s",
            "KEEP_SECONDS": "0",
            "NAMESPACES": "\n".join(namespaces),
            "HOUR": str(hour),
            "SEEN": str(seen),
            "FAILED": failed,
            "KILLED": killed,
        },
        check=False,
        timeout=60,
    )
    return done.returncode, seen.read_text(encoding="utf-8").split()


@pytest.mark.parametrize("number", range(len(_NAMESPACES) + 1))
def test_each_namespace_is_first_once(tmp_path: Path, number: int) -> None:
    namespaces = _NAMESPACES[:number]
    runs = [_visited(tmp_path, hour, namespaces) for hour in range(max(number, 1))]

    assert [code for code, _ in runs] == [0] * len(runs)
    assert all(sorted(seen) == namespaces for _, seen in runs)
    assert sorted(seen[0] for _, seen in runs if seen) == namespaces


def test_namespace_that_fails_keeps_no_other_from_being_cleaned(tmp_path: Path) -> None:
    for hour in range(len(_NAMESPACES)):
        code, seen = _visited(tmp_path, hour, _NAMESPACES, failed="team-b")
        assert (code, sorted(seen)) == (1, _NAMESPACES)


def test_namespace_that_kills_the_pod_keeps_no_other_from_its_turn(tmp_path: Path) -> None:
    """Before the order rotated, those behind it were never visited."""
    cleaned = set()
    for hour in range(len(_NAMESPACES)):
        _, seen = _visited(tmp_path, hour, _NAMESPACES, killed="team-b")
        cleaned |= set(seen)
    assert cleaned == set(_NAMESPACES)
