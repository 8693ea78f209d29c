"""What a TrainJob runs does in a shell what the script did, with substitutes for the launchers."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests import kubelet
from trainyard_jobs.convert.draft import Draft
from trainyard_jobs.convert.slurm.convert import read_batch_script

RANK = {
    "openmpi": {
        "OMPI_COMM_WORLD_RANK": "11",
        "OMPI_COMM_WORLD_LOCAL_RANK": "3",
        "OMPI_COMM_WORLD_SIZE": "16",
        "OMPI_COMM_WORLD_LOCAL_SIZE": "8",
    },
    "intel-mpi": {
        "PMI_RANK": "11",
        "MPI_LOCALRANKID": "3",
        "PMI_SIZE": "16",
        "MPI_LOCALNRANKS": "8",
    },
    "torchrun": {"RANK": "11", "LOCAL_RANK": "3", "WORLD_SIZE": "16", "GROUP_RANK": "1"},
}
SHOWN = "$SLURM_PROCID $SLURM_LOCALID $SLURM_NTASKS $SLURM_NODEID"


def draft(*lines: str) -> Draft:
    header = "#SBATCH --nodes=2 --ntasks-per-node=8 --gpus-per-node=8"
    (found,) = read_batch_script("x.sbatch", "\n".join(["#!/bin/bash", header, *lines]))
    assert not [note.meaning for note in found.notes if note.kind == "refused"]
    return found


def run(
    folder: Path, words: Sequence[str], environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command as the pod of a job called `llm-x1y2z` does."""
    return subprocess.run(
        [kubelet.given(word, {}) for word in words],
        cwd=folder,
        env={
            "PATH": f"{folder}:{os.environ['PATH']}",
            "HOSTNAME": "llm-x1y2z-launcher-0-0",
            **(environment or {}),
        },
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def pod(tmp_path: Path) -> Path:
    """A folder with launchers that print how they are called, and fail if `FAILS` is set."""
    for name in ("mpirun", "torchrun"):
        program = tmp_path / name
        program.write_text('#!/bin/sh\necho "${0##*/} $*"\nexit ${FAILS:-0}\n', "utf-8")
        program.chmod(0o755)
    return tmp_path


def test_commands_around_the_launch_run_in_their_order(pod: Path) -> None:
    found = draft(
        "OUT=runs/$SLURM_JOB_ID",
        "mkdir -p $OUT && cd runs || exit 9",
        'echo "$SLURM_NTASKS ranks"',
        "srun ./train --out $OUT || exit 7",
        "pwd -P",
    )

    done = run(pod, [*found.command, *found.args])
    failed = run(pod, [*found.command, *found.args], {"FAILS": "3"})

    call = "mpirun ./train --out runs/llm-x1y2z"
    assert done.stdout.splitlines() == ["16 ranks", call, str(pod.resolve() / "runs")]
    assert (done.returncode, failed.returncode) == (0, 7)
    assert failed.stdout.splitlines() == ["16 ranks", call]


def test_values_that_only_a_run_knows_reach_the_ranks(pod: Path) -> None:
    found = draft("export RUN=$(echo a)-b", "srun ./train")

    done = run(pod, [*found.command, *found.args])

    assert done.stdout == "mpirun -x RUN ./train\n"


def test_end_of_the_launch_is_that_of_the_job(pod: Path) -> None:
    found = draft("date > /dev/null", "srun ./train")

    assert run(pod, [*found.command, *found.args], {"FAILS": "5"}).returncode == 5


@pytest.mark.parametrize(
    ("launcher", "lines"),
    [
        ("openmpi", ()),
        ("intel-mpi", ("module load impi",)),
        ("torchrun", ("export MASTER_PORT=1",)),
    ],
)
def test_ranks_have_the_variables_of_slurm(
    pod: Path, launcher: str, lines: tuple[str, ...]
) -> None:
    found = draft(*lines, f"srun bash -c 'echo {SHOWN} \"two  words\"'")
    own = found.args[1:] if launcher == "torchrun" else found.args

    done = run(pod, own, RANK[launcher])

    assert found.launcher == launcher
    assert done.stdout == "11 3 16 1 two  words\n"


def test_torch_ranks_get_arguments_of_the_script(pod: Path) -> None:
    found = draft(
        "export MASTER_ADDR=$(scontrol show hostnames | head -n 1)",
        "ARGS=(--name 'two words')",
        'srun echo "${ARGS[@]}" tcp://$MASTER_ADDR:1',
    )

    done = run(pod, found.args[1:], {**RANK["torchrun"], "MASTER_ADDR": "llm-x1y2z-node-0-0.llm"})

    assert done.stdout == "--name two words tcp://llm-x1y2z-node-0-0.llm:1\n"
