"""The command that the SDK makes of a notebook's function, in a container of a torchrun runtime.

`fit_line.json` has what `record.py` printed with kubeflow 0.3.1 and with 0.5.0, which were alike.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.pages import ROOT, USERS, saved
from trainyard.generation.generate import generate

RECORDED = Path(__file__).with_name("fit_line.json")
_UID = 1000680000
"""The first id of a namespace's range on OpenShift; it has no account and owns nothing."""


@pytest.fixture(scope="module")
def containers() -> list[dict[str, Any]]:
    """The container of the ranks of each torchrun runtime of this repository."""
    generation = generate(ROOT / "profiles", "../profiles/components")
    bodies = [each.body for objects in generation.manifests.values() for each in objects]
    runtimes = [
        body["spec"]
        for body in bodies
        if body["kind"] == "ClusterTrainingRuntime" and "torch" in body["spec"]["mlPolicy"]
    ]
    jobs = [each["template"]["spec"]["replicatedJobs"][-1]["template"] for each in runtimes]
    return [job["spec"]["template"]["spec"] for job in jobs]


@pytest.fixture
def image() -> Iterator[Path]:
    """Return a folder that any id may read and none may write to, as an image's own."""
    # Other ids don't reach pytest's folders.
    with tempfile.TemporaryDirectory(prefix="trainyard-image-") as name:
        folder = Path(name)
        for each in ("app", "bin", "volume"):
            (folder / each).mkdir()
        torchrun = folder / "bin" / "torchrun"
        torchrun.write_text(f'#!/bin/sh\nexec "{_python()}" -m py_compile "$1"\n', "utf-8")
        torchrun.chmod(0o755)
        (folder / "app").chmod(0o555)
        (folder / "volume").chmod(0o2777)
        folder.chmod(0o755)
        yield folder


def _python() -> str:
    """Return a Python that any id may run."""
    system = Path("/usr/bin/python3")
    return str(system if os.getuid() == 0 and system.exists() else sys.executable)


def run(image: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the recorded command in a folder, as an id of the namespace if tests may choose one."""
    user: dict[str, Any] = {}
    if os.getuid() == 0:
        user = {"user": _UID, "group": 0, "extra_groups": ()}
    path = f"{image / 'bin'}:/usr/bin:/bin"
    command = json.loads(RECORDED.read_text("utf-8"))
    return subprocess.run(
        command, cwd=folder, env={"PATH": path}, capture_output=True, text=True, check=False, **user
    )


def test_each_runtime_starts_jobs_in_a_folder_that_any_id_may_write_to(
    containers: list[dict[str, Any]],
) -> None:
    assert containers
    for pod in containers:
        (container,) = pod["containers"]
        mounts = {each["mountPath"]: each["name"] for each in container["volumeMounts"]}
        volumes = {each["name"]: each for each in pod["volumes"]}

        assert volumes[mounts[container["workingDir"]]]["emptyDir"] == {}


def test_function_of_a_notebook_is_written_there(image: Path) -> None:
    done = run(image, image / "volume")

    assert (done.returncode, done.stderr) == (0, "")
    assert "def fit_line():" in (image / "volume" / "fit_line.py").read_text("utf-8")


def test_in_the_folder_of_an_image_it_fails(image: Path) -> None:
    """As it did before the runtime named a folder."""
    done = run(image, image / "app")

    assert done.returncode != 0
    assert "Permission denied" in done.stderr


def test_the_function_is_that_of_the_quickstart() -> None:
    function = saved(USERS / "quickstart.md")["fit_line.py"]

    assert function in json.loads(RECORDED.read_text("utf-8"))[-1]


def test_ten_lines_of_the_quickstart_submit_it() -> None:
    """And imports of them name the file of the function."""
    lines = [line for line in saved(USERS / "quickstart.md")["notebook.py"].splitlines() if line]

    assert len(lines) == 10
    assert lines[0] == "from fit_line import fit_line"


def test_the_notebook_has_the_cells_of_the_quickstart() -> None:
    notebook = json.loads((ROOT / "examples/notebook/notebook.ipynb").read_text("utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    files = saved(USERS / "quickstart.md")

    function, program = files["fit_line.py"], files["notebook.py"]
    assert cells == [function.rstrip(), program.partition("\n")[2].rstrip()]
    assert not any(cell.get("outputs") for cell in notebook["cells"])
