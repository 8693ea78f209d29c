"""The command of a torchrun job that gives its arguments alone, run by a real bash."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from trainyard.generation.generate import generate

ROOT = Path(__file__).parents[2]
ARGUMENTS = ["--no-python", "a b", "", '"$HOME"', "*"]


@pytest.fixture(scope="module")
def command() -> list[str]:
    """The one command of all runtimes that torchrun starts."""
    generation = generate(ROOT / "profiles", "../profiles/components")
    bodies = [
        manifest.body for manifests in generation.manifests.values() for manifest in manifests
    ]
    jobs = [
        body["spec"]["template"]["spec"]["replicatedJobs"][-1]["template"]["spec"]["template"][
            "spec"
        ]
        for body in bodies
        if body["kind"] == "ClusterTrainingRuntime" and "torch" in body["spec"]["mlPolicy"]
    ]
    first, *others = (job["containers"][0]["command"] for job in jobs)
    assert all(other == first for other in others)
    return [str(word) for word in first]


def run(
    command: list[str], arguments: list[str], folder: Path, export: str = ""
) -> subprocess.CompletedProcess[bytes]:
    """Run the command with programs of ours that print, on lines of their own, their name and
    arguments."""
    for name in ("torchrun", "with-export"):
        program = folder / name
        program.write_text('#!/bin/bash\nprintf "%s\\n" "${0##*/}" "$@"\n', encoding="utf-8")
        program.chmod(0o755)
    tame = [word.replace("/opt/trainyard/", f"{folder}/") for word in command]
    environment = {
        "PATH": f"{folder}:{os.environ['PATH']}",
        **({"EXPORT_COMMAND": export} if export else {}),
    }
    return subprocess.run([*tame, *arguments], env=environment, capture_output=True, check=False)


def test_arguments_are_passed_to_torchrun_unchanged(command: list[str], tmp_path: Path) -> None:
    """Whatever stands in them; nothing of the command itself is among them."""
    done = run(command, ARGUMENTS, tmp_path)

    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().split("\n")[:-1] == ["torchrun", *ARGUMENTS]


def test_export_runs_around_torchrun(command: list[str], tmp_path: Path) -> None:
    """A runtime with an export has it here too."""
    done = run(command, ARGUMENTS, tmp_path, export="true")

    assert done.stdout.decode().split("\n")[:-1] == ["with-export", "torchrun", *ARGUMENTS]


def test_job_without_arguments_fails_with_a_message(command: list[str], tmp_path: Path) -> None:
    """It fails at once instead of showing how torchrun is used."""
    done = run(command, [], tmp_path)

    assert (done.returncode, done.stdout) == (64, b"")
    assert b"spec.trainer.args" in done.stderr
