"""Notes about commands that are bound to fail or to waste nodes, and none about good ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.jobs.convert.conftest import checked, platform, tenant
from trainyard.model.tenant import Tenant
from trainyard_jobs.fit.grants import grant_of
from trainyard_jobs.workflows.useless import notes_of

__all__ = ["checked", "platform", "tenant"]
Team = Callable[[str, str], Tenant]

MPI, TORCH = "openmpi-cuda-v3-dgx-h100", "torchrun-v1-dgx-h100"
USELESS = {
    "mpi without a command": (MPI, None, None, "neither command nor args"),
    "torchrun without a script": (TORCH, None, None, "torchrun has no script"),
    "python on the launcher": (MPI, ["python", "t.py"], None, "nothing calls mpirun"),
    "torchrun on mpi": (MPI, ["torchrun", "t.py"], None, "on a runtime of MPI"),
    "mpirun on torchrun": (TORCH, ["mpirun", "python", "t.py"], None, "it finds no hosts"),
    "python on torchrun": (TORCH, ["python", "t.py"], None, "nothing calls torchrun"),
    "one word": (MPI, ["mpirun python t.py"], None, "is one word"),
    "empty word": (MPI, [""], None, "the first word is empty"),
    "operator": (MPI, ["mpirun", "a", "&&", "b"], None, "only a shell reads it"),
    "cd": (MPI, ["cd", "/app"], ["mpirun", "a"], "`cd` is not a program"),
    "script of one word": (MPI, ["bash", "-c", "mpirun", "a"], None, "alone is the script"),
    "pip": (TORCH, ["bash", "-c", "pip install x\ntorchrun t.py"], None, "no internet"),
    "hub": (TORCH, ["bash", "-c", "huggingface-cli download x; torchrun t.py"], None, "time-out"),
    "sleep": (MPI, ["bash", "-c", "mpirun a; sleep infinity"], None, "holds its nodes"),
    "sudo": (MPI, ["bash", "-c", "sudo ldconfig; mpirun a"], None, "no container runs as root"),
    "kubectl": (MPI, ["bash", "-c", "kubectl get pods; mpirun a"], None, "no token"),
    "srun": (MPI, ["srun", "python", "t.py"], None, "no pod has Slurm's commands"),
    "ssh": (MPI, ["bash", "-c", "ssh node-1 hostname; mpirun a"], None, "ssh"),
    "jupyter": (TORCH, ["jupyter", "lab"], None, "use a workbench"),
    "few ranks": (MPI, ["mpirun", "-np", "4", "a"], None, "of which it starts 4"),
    "hosts": (MPI, ["mpirun", "-H", "a:8,b:8", "x"], None, "the pods have other names"),
    "nnodes": (TORCH, None, ["--nnodes=4", "t.py"], "the job has 2; leave it out"),
    "nproc": (TORCH, ["torchrun", "--nproc_per_node=4", "t.py"], None, "the job has 8 on each"),
    "relative script": (TORCH, None, ["t.py", "--lr", "1"], "`t.py`: the job starts in /home"),
    "relative line": (TORCH, ["bash", "-c", "torchrun run/t.py"], None, "in /home/ranks, an empty"),
    "relative after a number": (
        TORCH,
        ["bash", "-c", "accelerate launch --num_processes $$((A * B)) --quiet run.py"],
        None,
        "`run.py`: the job starts in /home",
    ),
    "relative after a program's answer": (
        TORCH,
        ["bash", "-c", "torchrun --master-port $(shuf -n 1 -i 1-9) run.py"],
        None,
        "`run.py`: the job starts in /home",
    ),
    "module": (
        TORCH,
        ["bash", "-c", "A=1\nexec python -m torch.distributed.run --nnodes 4 /app/t.py"],
        None,
        "the job has 2; leave it out",
    ),
    "range without the job's": (TORCH, ["torchrun", "--nnodes=3:4", "/app/t.py"], None, "3:4"),
    "standalone": (TORCH, ["torchrun", "--standalone", "t.py"], None, "a model of its own"),
}
GOOD = {
    "mpirun": (MPI, ["mpirun", "python", "/app/t.py"], None),
    "args of mpirun": (MPI, None, ["python", "/app/t.py"]),
    "all ranks": (MPI, ["mpirun", "-np", "16", "a"], None),
    "script": (MPI, ["bash", "-c", "cd /app && mpirun python t.py"], None),
    "torchrun": (TORCH, ["torchrun", "--nnodes=2", "--nproc-per-node=8", "/app/t.py"], None),
    "elastic": (TORCH, ["torchrun", "--nnodes=1:4", "--nproc-per-node=8", "/app/t.py"], None),
    "args of torchrun": (TORCH, None, ["/app/t.py", "--lr", "0.1"]),
    "module": (TORCH, ["python", "-m", "torch.distributed.run", "/app/t.py"], None),
    "accelerate": (TORCH, ["bash", "-c", "exec accelerate launch /app/t.py"], None),
    "own folder": (TORCH, ["bash", "-c", "cd /app && torchrun t.py"], None),
    "own script": (TORCH, ["bash", "-c", 'echo > "t.py"\ntorchrun "t.py"'], None),
    "shell's script": (MPI, ["bash", "-c", "/app/run.sh", "x"], None),
}


def notes(tenant: Team, runtime: str, command: Any, args: Any) -> list[str]:
    trainer = {"numNodes": 2, "numProcPerNode": 8, "command": command, "args": args}
    kept = {key: value for key, value in trainer.items() if value is not None}
    job = {"spec": {"runtimeRef": {"name": runtime}, "trainer": kept}}
    space = tenant("nlp", "prod-east").spaces[0]
    grant = grant_of(job, space)
    assert grant is not None
    return list(notes_of(job, space, grant))


@pytest.mark.parametrize("case", USELESS)
def test_useless_command_has_its_note(tenant: Team, case: str) -> None:
    runtime, command, args, words = USELESS[case]

    assert any(words in note for note in notes(tenant, runtime, command, args))


@pytest.mark.parametrize("case", [case for case in GOOD if case != "shell's script"])
def test_good_command_has_none(tenant: Team, case: str) -> None:
    assert notes(tenant, *GOOD[case]) == []
