"""Commands of a script that a job leaves out, and what takes their place."""

from __future__ import annotations

from trainyard_jobs.convert.model import RefusedError
from trainyard_jobs.convert.slurm.assign import leading
from trainyard_jobs.convert.slurm.script import Script
from trainyard_jobs.convert.slurm.shell import Statement, written
from trainyard_jobs.convert.words import words

PROVIDED = "the image must hold what it provides"
LOGS = "the output is in the pods' logs: `kubectl logs`"
DROPPED = {
    **dict.fromkeys(
        words("module ml source . conda mamba micromamba spack pyenv activate deactivate"), PROVIDED
    ),
    **dict.fromkeys(
        words("scontrol sacct squeue scancel sbatch sstat seff sinfo sattach sbcast"),
        "no pod has Slurm's commands",
    ),
    **dict.fromkeys(("ulimit", "umask"), "the node and the image set limits"),
    "trap": "an evicted job's ranks get SIGTERM themselves, with the runtime's `grace`",
}
"""Commands that are left out, and what takes their place."""
SILENT = words("wait true : hash sync")
"""Commands that are left out without a note."""
UNREAD = words("read mapfile readarray getopts let shift alias local enable")
"""Commands that change variables in a way that can't be followed."""


def program_of(statement: Statement) -> str:
    """Return the program of a command, without the assignments before it."""
    at = min(leading(statement.words), len(statement.words) - 1)
    return statement.words[at].text.rpartition("/")[2]


def meaning_of_dropped(statement: Statement) -> str:
    """Return what takes the place of a command that is left out; empty for one that stays."""
    if statement.name in {"cd", "pushd"} and "SLURM_SUBMIT_DIR" in statement.raw:
        return "the command runs in the image's working directory"
    if statement.name == "eval" and _prints_set_up(statement):
        return PROVIDED
    if statement.name == "exec" and len(statement.words) == 1:
        return LOGS
    return DROPPED.get(program_of(statement), "")


def _prints_set_up(statement: Statement) -> bool:
    """Return whether ``eval`` sets up a shell: it runs what a program prints."""
    return all(word.raw.strip('"').startswith(("$(", "`")) for word in statement.words[1:])


def take_redirects(script: Script, launch: Statement) -> None:
    """Note the redirections of a launch.

    Raises:
        RefusedError: it reads a file or a here-document.
    """
    for redirect in launch.redirects:
        if redirect.raw.startswith("<"):
            raise RefusedError(redirect.at, f"`{redirect.raw}`", "a pod has no standard input")
    if redirects := launch.redirects:
        script.remarks.dropped(redirects[0].at, f"`{written(redirects)}`", LOGS)
