"""The example of a pipeline: what kfp compiled is what the program says, and its script works."""

from __future__ import annotations

import ast
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.pages import ROOT
from trainyard.yaml_io.manifests import parse_manifests
from trainyard.yaml_io.reader import read

EXAMPLE = ROOT / "examples" / "pipeline"
JOB = "trainjob.trainer.kubeflow.org/pipeline-a1b2c"
KUBECTL = f"""#!/bin/bash
echo "$*" >> "$CALLS"
case "$1 $4" in
  "create "*) cat > "$CALLS.job"; echo {JOB} ;;
  "wait condition=$END") exit 0 ;;
  "wait "*) exit 1 ;;
  "logs "*) echo "loss 0.1" ;;
esac
"""


@pytest.fixture(scope="module")
def constants() -> dict[str, str]:
    """The texts that the program defines; kfp itself is none of this project's dependencies."""
    module = ast.parse((EXAMPLE / "pipeline.py").read_text("utf-8"))
    return {
        node.targets[0].id: str(node.value.value)
        for node in module.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
    }


@pytest.fixture(scope="module")
def compiled() -> Any:
    source, found = read("pipeline.yaml", (EXAMPLE / "pipeline.yaml").read_bytes())
    assert not found
    return source.value


def test_compiled_pipeline_is_that_of_the_program(constants: dict[str, str], compiled: Any) -> None:
    container = compiled["deploymentSpec"]["executors"]["exec-train"]["container"]
    task = compiled["root"]["dag"]["tasks"]["train"]

    assert container["command"] == ["bash", "-c", constants["SCRIPT"]]
    assert container["image"] == constants["IMAGE"]
    job = task["inputs"]["parameters"]["job"]["runtimeValue"]["constant"]
    assert job == constants["JOB"]
    assert not task["cachingOptions"].get("enableCache")


def test_its_job_is_a_job(constants: dict[str, str]) -> None:
    (job,) = parse_manifests(constants["JOB"])

    assert (job["kind"], job["spec"]["trainer"]["numNodes"]) == ("TrainJob", 2)


@pytest.mark.parametrize(("end", "code"), [("complete", 0), ("failed", 1)])
def test_step_ends_as_the_job(
    constants: dict[str, str], tmp_path: Path, end: str, code: int
) -> None:
    (tmp_path / "kubectl").write_text(KUBECTL, "utf-8")
    (tmp_path / "kubectl").chmod(0o755)
    environment = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "CALLS": str(tmp_path / "calls"),
        "END": end,
    }

    done = subprocess.run(
        ["bash", "-c", constants["SCRIPT"], constants["JOB"]],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    calls = (tmp_path / "calls").read_text("utf-8").splitlines()
    assert (done.returncode, "loss 0.1" in done.stdout) == (code, True), done.stderr
    assert (tmp_path / "calls.job").read_text("utf-8") == constants["JOB"]
    assert calls[-1] == f"delete {JOB} --wait=false"
