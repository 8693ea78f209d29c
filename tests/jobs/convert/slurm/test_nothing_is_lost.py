"""Every option of sbatch and srun is in the TrainJob, in a note, or known to mean nothing."""

from __future__ import annotations

import pytest

from trainyard_jobs.convert.draft import Draft
from trainyard_jobs.convert.slurm.convert import read_batch_script
from trainyard_jobs.convert.slurm.getopt import SBATCH, SRUN
from trainyard_jobs.convert.slurm.options import SILENT

VALUES = {
    "array": "1",
    "cpus-per-gpu": "4",
    "cpus-per-task": "4",
    "gpus": "4",
    "gpus-per-node": "4",
    "gpus-per-task": "1",
    "gres": "gpu:2",
    "nodes": "4",
    "ntasks": "4",
    "ntasks-per-gpu": "1",
    "ntasks-per-node": "4",
    "time": "5",
}
OPTIONS = sorted(SBATCH.needed | SBATCH.flags | SBATCH.optional)
OF_SRUN = sorted(SRUN.needed | SRUN.flags | SRUN.optional)


def written(name: str, needed: frozenset[str]) -> str:
    return f"--{name}={VALUES.get(name, 'value')}" if name in needed else f"--{name}"


def seen(draft: Draft) -> tuple[object, ...]:
    notes = frozenset((note.kind, note.what) for note in draft.notes)
    job = (draft.nodes, draft.ranks, draft.gpus, draft.image, draft.deadline, draft.name)
    return (notes, *job, draft.args)


def draft(header: str, call: str) -> Draft:
    lines = ["#!/bin/bash", "#SBATCH --nodes=2 --gpus-per-node=8", header, f"srun {call} ./train"]
    (found,) = read_batch_script("x.sbatch", "\n".join(lines))
    return found


@pytest.mark.parametrize("name", [name for name in OPTIONS if name not in SILENT])
def test_option_of_sbatch_is_seen(name: str) -> None:
    given = draft(f"#SBATCH {written(name, SBATCH.needed)}", "")

    assert seen(given) != seen(draft("#", ""))


@pytest.mark.parametrize("name", [name for name in OF_SRUN if name not in SILENT])
def test_option_of_srun_is_seen(name: str) -> None:
    assert seen(draft("#", written(name, SRUN.needed))) != seen(draft("#", ""))
