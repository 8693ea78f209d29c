"""Programs of `examples/training`: their jobs are admitted, and what they share does its part.

`tests/e2e/test_training.py` runs them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import BinaryIO

import pytest

from tests.pages import ROOT, shell_blocks, type_page

FOLDER = ROOT / "examples" / "training"
PROGRAMS = sorted(path.parent for path in FOLDER.glob("*/train.py"))
_COMMANDS = "".join(shell_blocks(FOLDER / "README.md")).splitlines()


@pytest.fixture
def job(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The shared module in a rank of Open MPI."""
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "1")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "4")
    spec = spec_from_file_location("job", FOLDER / "job.py")
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.thorough
def test_page_prints_that_each_job_is_admitted() -> None:
    """The page says for whom and where."""
    type_page(FOLDER / "README.md", ROOT)


def test_page_judges_the_job_of_each_program() -> None:
    """No program is without a job, and each program has an image."""
    assert [line.split()[2] for line in _COMMANDS] == [
        (folder / "trainjob.yaml").relative_to(ROOT).as_posix() for folder in PROGRAMS
    ]
    assert all((folder / "Containerfile").is_file() for folder in PROGRAMS)


@pytest.mark.parametrize("folder", PROGRAMS, ids=lambda folder: folder.name)
def test_program_is_short(folder: Path) -> None:
    """A data scientist reads it before lunch."""
    assert 60 <= len((folder / "train.py").read_text("utf-8").splitlines()) <= 150


def test_lines_name_rank_and_host(job: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    """What all ranks would repeat is printed by the first."""
    job.log("starts")
    job.log_once("step 5")

    assert capsys.readouterr().out == f"rank 1 of 4 on {os.uname().nodename}: starts\n"


def test_checkpoint_is_replaced_as_a_whole(job: ModuleType, tmp_path: Path) -> None:
    """A program that ends while it writes leaves the checkpoint that was there."""
    file = tmp_path / "new" / "checkpoint"

    def broken(opened: BinaryIO) -> None:
        opened.write(b"half")
        raise OSError("no space")

    job.save(file, lambda opened: opened.write(b"first"))
    with pytest.raises(OSError, match="no space"):
        job.save(file, broken)
    assert file.read_bytes() == b"first"

    job.save(file, lambda opened: opened.write(b"second"))
    assert file.read_bytes() == b"second"
    assert list(file.parent.iterdir()) == [file]


_SIGNALLED = """
import os, signal, job
eviction = job.Eviction()
assert not eviction.begun
os.kill(os.getpid(), signal.SIGTERM)
assert eviction.begun
raise SystemExit(job.EVICTED)
"""


def test_sigterm_is_noted_and_ends_nothing() -> None:
    """The program decides when it ends, with a code that is neither 0 nor a signal's."""
    done = subprocess.run(
        [sys.executable, "-c", _SIGNALLED], env={"PYTHONPATH": str(FOLDER)}, check=False
    )

    assert done.returncode not in {0, -signal.SIGTERM, 128 + signal.SIGTERM, 1}
