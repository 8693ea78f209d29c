"""The part of a job that a script's header asks for, where its commands can't all be read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from trainyard.diagnostics import Pointer
from trainyard.model.launcher import LAUNCHERS, TORCHRUN
from trainyard_jobs.convert.draft import Draft
from trainyard_jobs.convert.model import variables
from trainyard_jobs.convert.remarks import Remarks
from trainyard_jobs.convert.slurm import job
from trainyard_jobs.convert.slurm.containers import image_of_options
from trainyard_jobs.convert.slurm.header import Header
from trainyard_jobs.convert.slurm.mpi import launcher_of
from trainyard_jobs.convert.slurm.script import Script
from trainyard_jobs.convert.slurm.sizes import Sizes
from trainyard_jobs.convert.slurm.start import Start
from trainyard_jobs.convert.slurm.variables import RENDEZVOUS

_TORCH = re.compile(r"\b(torchrun|torch\.distributed|accelerate +launch|deepspeed|MASTER_ADDR)\b")
_RAY = re.compile(r"\bray +(start|job|exec)\b|\bray\.init\b")
_MISSING = 'echo "the command is missing: write it here" >&2; exit 64'
_OF_RAY = (
    "a Ray cluster has no counterpart in a TrainJob: KubeRay's RayJob is one, or start the ranks "
    "with torchrun"
)
_WRITE = {
    True: "write what the launcher runs once: `mpirun PROGRAM` for each srun or mpirun",
    False: "write what the pod of every node runs: `torchrun PROGRAM` without nodes, ranks and "
    "rendezvous, which Trainer gives",
}


def part_of_job(
    lines: Sequence[str], header: Header, script: Script, sizes: Sizes, named: tuple[str, int]
) -> Draft:
    """Return the draft of a job without its command, with the script's lines to write it from.

    Args:
        lines: of the script.
        header: of the script.
        script: what was read of it, with notes of what was not.
        sizes: that the header asks for.
        named: begin of the job's name, and the seconds that it may run.
    """
    remarks, at = script.remarks, Pointer(script.file, line=header.end + 1, column=1)
    body = tuple(line for line in lines[header.end :] if line.strip())
    launcher = _launcher(lines, body, script, at)
    with remarks.collected():
        job.note_options(header, sizes, remarks)
    image = image_of_options(header.options, Remarks())
    env = {name: value for name, (value, _) in script.env.items() if name not in RENDEZVOUS}
    gpus = sizes.gpus or 0
    return Draft(
        f"batch script {PurePosixPath(script.file).name}",
        Pointer(script.file, line=1, column=1),
        f"{named[0]}-",
        launcher,
        sizes.nodes,
        image=image.name if image else "",
        gpus=gpus,
        ranks=gpus if launcher == TORCHRUN.name else sizes.ranks,
        command=("/bin/bash", "-c"),
        args=(_MISSING,),
        env=variables(env),
        deadline=named[1],
        notes=remarks.in_order,
        places={**sizes.places, **job.places(header)},
        unread=body,
    )


def _launcher(lines: Sequence[str], body: Sequence[str], script: Script, at: Pointer) -> str:
    """Return the launcher that a script's lines name, and note how to write the command for it."""
    text = "\n".join(body)
    launcher = launcher_of(lines, script, Start("", at))
    if _TORCH.search(text):
        launcher = TORCHRUN.name
    way = _OF_RAY if _RAY.search(text) else _WRITE[LAUNCHERS[launcher].mpi]
    script.remarks.choose(at, "the command", f"{way}. {_BELOW}")
    return launcher


_BELOW = "The script's lines are below the TrainJob as comments"
