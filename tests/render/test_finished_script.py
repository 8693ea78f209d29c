"""The script that deletes finished jobs, run by real shells with a kubectl that writes down what it
is asked."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.render.test_job_tools import environment_of, expanded
from tests.rules.cases import platform_of
from trainyard.render.site import render_site

_SHELLS = [[path] for each in ("dash", "bash") if (path := shutil.which(each))]
_SHELLS += [[path, "sh"] for path in [shutil.which("busybox")] if path]
_API = "/apis/trainer.kubeflow.org/v1alpha1/namespaces"
_KUBECTL = """#!/bin/sh
printf '%s\\n' "$*" >> "$CALLS"
case "$*" in
  *" get "*) exec cat "$ANSWERS/$4" ;;
esac
for last do :; done
cat >> "$CALLS"
echo >> "$CALLS"
[ ! -e "$ANSWERS/refused-${last##*/}" ]
"""


def cron_job(**changes: Any) -> dict[str, Any]:
    """Return the CronJob of the base platform's cluster."""
    cleanup = {
        "keep": "36h",
        "image": f"registry.example.com/platform/kubectl@sha256:{'1' * 64}",
        **changes,
    }
    (site,) = platform_of({"clusters/prod-east.yaml": {"finishedJobs": cleanup}}).sites
    return next(each.body for each in render_site(site) if each.body["kind"] == "CronJob")


@dataclass
class Cluster:
    """What kubectl answers, and what it was asked.

    Args:
        answers: folder with what ``get`` prints, by namespace; ``refused-NAME`` for a job that
            can't be deleted.
    """

    answers: Path
    calls: Path

    def run(self, shell: list[str], before: str = "") -> subprocess.CompletedProcess[str]:
        """Run the script as kubelet would start it, after lines that a test puts before it."""
        (container,) = cron_job()["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
        environment: Mapping[str, str] = environment_of(container)
        command = [expanded(each, environment) for each in container["command"]]
        path = os.pathsep.join([str(self.answers), os.defpath])
        own = {"ANSWERS": str(self.answers), "CALLS": str(self.calls), "PATH": path}
        return subprocess.run(
            [*shell, "-c", before + command[2]],
            env={**environment, **own},
            capture_output=True,
            text=True,
            check=False,
        )

    def deleted(self) -> list[tuple[str, dict[str, Any]]]:
        """Return the address and the body of each deletion."""
        lines = self.calls.read_text(encoding="utf-8").splitlines()
        deletions = [(each, lines[i + 1]) for i, each in enumerate(lines) if " delete " in each]
        return [(call.rpartition(" ")[2], json.loads(body)) for call, body in deletions]


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    """Two teams' namespaces without a finished job."""
    answers = tmp_path / "answers"
    answers.mkdir()
    for namespace in ("team-nlp", "team-vision"):
        (answers / namespace).touch()
    (answers / "kubectl").write_text(_KUBECTL, encoding="utf-8")
    (answers / "kubectl").chmod(0o755)
    return Cluster(answers, tmp_path / "calls")


pytestmark = pytest.mark.parametrize("shell", _SHELLS, ids=lambda shell: Path(shell[0]).name)


def test_exactly_what_was_seen_is_deleted(cluster: Cluster, shell: list[str]) -> None:
    """The resourceVersion is that of the list, and pods go in the background."""
    (cluster.answers / "team-nlp").write_text("one/17 two/18 ", encoding="utf-8")

    done = cluster.run(shell)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "deleted team-nlp/one\ndeleted team-nlp/two\n"
    assert cluster.deleted() == [
        (f"{_API}/team-nlp/trainjobs/{name}", _options(version))
        for name, version in (("one", "17"), ("two", "18"))
    ]


def _options(version: str) -> dict[str, Any]:
    return {"propagationPolicy": "Background", "preconditions": {"resourceVersion": version}}


def test_one_failure_does_not_stop_the_others(cluster: Cluster, shell: list[str]) -> None:
    """A namespace that can't be read and a job that is refused fail the run at its end."""
    (cluster.answers / "team-nlp").unlink()
    (cluster.answers / "team-vision").write_text("one/17 two/18 ", encoding="utf-8")
    (cluster.answers / "refused-one").touch()

    done = cluster.run(shell)

    assert (done.returncode, done.stdout) == (1, "deleted team-vision/two\n")
    assert [address for address, _ in cluster.deleted()] == [
        f"{_API}/team-vision/trainjobs/one",
        f"{_API}/team-vision/trainjobs/two",
    ]


def test_the_time_is_that_of_keep(cluster: Cluster, shell: list[str]) -> None:
    """Each namespace is asked for what ended 36 hours ago or earlier."""
    now = datetime.now(UTC)
    cluster.run(shell)

    calls = cluster.calls.read_text(encoding="utf-8").splitlines()
    assert sorted(call.split()[3] for call in calls) == ["team-nlp", "team-vision"]
    for call in calls:
        before = call.partition('lt .lastTransitionTime "')[2].partition('"')[0]
        seconds = (now - timedelta(hours=36) - datetime.fromisoformat(before)).total_seconds()
        assert abs(seconds) < 60


def test_a_clock_that_fails_deletes_nothing(cluster: Cluster, shell: list[str]) -> None:
    """Without the time nothing is asked."""
    assert cluster.run(shell, "date() { return 1; }\n").returncode == 1
    assert not cluster.calls.exists()
