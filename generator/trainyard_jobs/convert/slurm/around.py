"""The commands around a launch: which stay, and what of them means something else in a pod."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from trainyard.diagnostics import Pointer
from trainyard_jobs.convert.slurm.expand import names_in
from trainyard_jobs.convert.slurm.readable import all_read, reads_slurms
from trainyard_jobs.convert.slurm.script import REPORTS, Line, Script, exported_by
from trainyard_jobs.convert.slurm.variables import JOB_ID, NAME_OF_JOB, RENDEZVOUS

_SUBSTITUTES = re.compile(r"\$\(|`|\$RANDOM")
_ALIKE = re.compile(
    r"\$\(\s*(?:dirname|basename|cat|realpath|readlink|echo|printf|expr|seq)\b|\$\(\("
)
"""Substitutions that give the same in pods of one image."""


def lines_of(
    script: Script, used: Iterable[str], *, runs_once: bool, mpi: bool
) -> tuple[list[Line], list[Line]]:
    """Return the commands before and after the launch that stay.

    Args:
        script: the whole.
        used: words of its launches that the shell expands.
        runs_once: whether one pod runs the commands, not each node's.
        mpi: whether the launcher is one of MPI.
    """
    if not mpi:
        _drop_rendezvous(script)
    before = _without_reports(script, script.before, runs_once=runs_once)
    after = _without_reports(script, script.after, runs_once=runs_once)
    lines = [*before, *after] if script.is_framed else before
    kept = needed(lines, _read_by_ranks(script, lines, mpi=mpi).union(*map(names_in, used)))
    _note_unused(script, lines, kept)
    if not runs_once:
        note_different(script, kept)
    return _kept_of(before, kept), _kept_of(after, kept) if script.is_framed else after


def _read_by_ranks(script: Script, lines: Sequence[Line], *, mpi: bool) -> set[str]:
    """Return the exported variables that programs of the ranks may read."""
    own = set() if mpi else RENDEZVOUS | script.set_by_slurm
    return exported_by(lines) - script.parts.used - own


def _kept_of(lines: Iterable[Line], kept: Sequence[Line]) -> list[Line]:
    return [line for line in lines if line in kept]


def needed(lines: Sequence[Line], names: AbstractSet[str]) -> list[Line]:
    """Return the programs, and the assignments that something reads, in their order."""
    kept: list[Line] = []
    read = set(names)
    for line in reversed(lines):
        if line.name or line.sets & read:
            kept.append(line)
            read |= line.reads
    return kept[::-1]


def _drop_rendezvous(script: Script) -> None:
    for name in sorted(RENDEZVOUS & set(script.env)):
        _, at = script.env.pop(name)
        script.remarks.dropped(at, f"variable {name}", "Trainer and torchrun give it")


def _note_unused(script: Script, lines: Sequence[Line], kept: Sequence[Line]) -> None:
    followed = {*script.known, *script.parts.used}
    for line in lines:
        if line not in kept and not line.sets <= followed:
            is_torch = line.sets & RENDEZVOUS
            meaning = "Trainer gives it" if is_torch else "nothing in the TrainJob reads it"
            script.remarks.dropped(line.at, line.shown, meaning)


def _without_reports(script: Script, lines: Iterable[Line], *, runs_once: bool) -> list[Line]:
    """Return commands without those that only print, where every node would run them.

    Also without those that print what only Slurm knows.
    """
    kept = []
    slurms = script.set_by_slurm
    for line in lines:
        reads = reads_slurms(script, line, slurms)
        if line.name in REPORTS and (reads or not runs_once):
            meaning = "it prints what only Slurm knows" if reads else "every node would print it"
            script.remarks.dropped(line.at, line.shown, meaning)
        else:
            kept.append(line)
    if not runs_once:
        _note_programs(script, kept)
    return kept


def _note_programs(script: Script, lines: Iterable[Line]) -> None:
    """Note programs that the pod of every node runs."""
    for line in lines:
        if line.is_program and not _MAKES_FOLDER.match(line.text):
            script.remarks.choose(line.at, line.shown, _ON_EACH_NODE)


_MAKES_FOLDER = re.compile(
    r"mkdir\s+(?:-\w*p\w*|--parents)\s+[^;&|]*$|cat\s*>\s*[^/\s]\S*\s*<<-?['\"\w]+\n"
)
"""What each pod does for itself: a folder, or a file in its own working folder."""
_ON_EACH_NODE = (
    "Slurm runs it on the first node, and here the pod of every node does: right for what prepares "
    "a pod; what shall happen once, as on a volume of all pods, goes into the program's first rank"
)


def note_different(script: Script, lines: Iterable[Line]) -> None:
    """Note values that each node would find out by itself."""
    for line in lines:
        if not line.is_program and _SUBSTITUTES.search(_ALIKE.sub("", line.text)):
            meaning = "the pod of each node finds its own value: see that they are the same"
            script.remarks.choose(line.at, line.shown, meaning)


def of_slurm(script: Script, lines: Sequence[Line], used: Sequence[str]) -> list[Line]:
    """Return assignments of the Slurm variables that the shell reads."""
    places: dict[str, Pointer] = {}
    for at, name in all_read(script, lines, used):
        places.setdefault(name, at)
    for name in sorted(JOB_ID & set(places)):
        script.remarks.changed(places[name], f"${name}", "the TrainJob's name takes its place")
    assignments = []
    for name in sorted(set(places) - set(script.env)):
        value = NAME_OF_JOB if name in JOB_ID else script.known.get(name)
        if value is not None and name.startswith("SLURM"):
            own = frozenset({name})
            assignments.append(Line(f"export {name}={value}", places[name], "", own, own))
    return assignments


def meeting(lines: Sequence[Line], used: Iterable[str], at: Pointer) -> list[Line]:
    """Return the assignment of the place to meet, where the shell of a pod reads it.

    Trainer sets the variables on the right (kubeflow/trainer:pkg/runtime/framework/plugins/torch).
    """
    own = {name: f"PET_{name}" for name in ("MASTER_ADDR", "MASTER_PORT")}
    read = set().union(*(line.reads for line in lines), *map(names_in, used))
    names = sorted(read & own.keys() - set().union(*(line.sets for line in lines)))
    text = " ".join(f"{name}=${own[name]}" for name in names)
    return [Line(f"export {text}", at, "", frozenset(names), frozenset(names))] if names else []
