"""Read the command of a script that starts the ranks: srun, mpirun or torchrun."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from trainyard.diagnostics import Pointer
from trainyard_jobs.convert.model import RefusedError
from trainyard_jobs.convert.remarks import Remarks
from trainyard_jobs.convert.shell import script_of
from trainyard_jobs.convert.slurm.containers import Image, unwrapped
from trainyard_jobs.convert.slurm.expand import expanded, names_in, spelled
from trainyard_jobs.convert.slurm.getopt import (
    SRUN,
    Option,
    Word,
    take,
    unreadable_script,
)
from trainyard_jobs.convert.slurm.launchers import OTHERS, program, without_prefix
from trainyard_jobs.convert.slurm.reader import statements
from trainyard_jobs.convert.slurm.script import Script
from trainyard_jobs.convert.slurm.shell import Statement, Token, texts, written
from trainyard_jobs.convert.torchrun import DIALECTS

_REFUSED = {
    "multi-prog": "each rank would run another program",
    "pty": "a job has no terminal",
    **dict.fromkeys(
        ("het-group", "pack-group"), "a TrainJob has one kind of node (kubeflow/trainer#4064)"
    ),
    "bcast": "no file is copied to the nodes: put the program into the image",
}


@dataclass(frozen=True, slots=True)
class Start:
    """How the ranks are started.

    Args:
        by: ``srun``, ``mpirun``, ``torchrun``, or empty for a program that Slurm runs once.
        words: of the call; of srun what follows its options.
        options: of srun.
        image: that the call names.
    """

    by: str
    at: Pointer
    words: Sequence[Token] = ()
    options: Sequence[Option] = ()
    image: Image | None = None


def read_start(script: Script, launch: Statement | None) -> Start:
    """Return how a command of a script starts its ranks; None is the whole script.

    Raises:
        RefusedError: it has no counterpart.
    """
    if launch is None:
        if not any(line.is_program for line in script.before):
            if script.remarks.refuses:
                return Start("", Pointer(script.file, line=1, column=1))
            raise unreadable_script(script.file, "it starts no program")
        return Start("", script.before[0].at)
    words = without_prefix(launch.words)
    by = program(words)
    if by in OTHERS:
        raise RefusedError(words[0].at, f"`{by}`", OTHERS[by])
    if by == "srun":
        return _of_srun(words, script)
    if by in DIALECTS:
        return Start(by, words[0].at, words)
    return _of_mpirun(words, script.remarks)


def _of_mpirun(words: Sequence[Token], remarks: Remarks) -> Start:
    """Return a call of mpirun without the container program that it starts."""
    for index in range(1, len(words)):
        inner, image = unwrapped(words[index:], remarks)
        if inner is not words[index:] and len(inner) < len(words) - index:
            return Start("mpirun", words[0].at, [*words[:index], *inner], (), image)
    return Start("mpirun", words[0].at, words)


def _of_srun(words: Sequence[Token], script: Script) -> Start:
    known = script.values
    words = _without_unknown(words, script)
    options, rest = take([Word(spelled(word, known), word.at) for word in words[1:]], SRUN)
    _need_own(options)
    if rest and (array := _OPEN.match(words[len(words) - len(rest)].raw)):
        reason = "its elements, which may be options of srun, are not known before the script runs"
        raise RefusedError(words[0].at, f"`srun {array[0]}`", reason, "Write them out.")
    if not rest or not rest[0].text:
        raise RefusedError(words[0].at, "`srun`", "it starts no program")
    inner, image = unwrapped(words[len(words) - len(rest) :], script.remarks)
    inner = _unwrapped_shell(inner, script)
    by = _program_of_srun(inner)
    _need_no_launcher(inner, by, script)
    return Start(by, words[0].at, without_prefix(inner) or inner, options, image)


def _without_unknown(words: Sequence[Token], script: Script) -> Sequence[Token]:
    """Return a call of srun without variables among its options that only a run knows.

    They stand before the program that starts the ranks of a node, so they hold options at most.
    """
    known = script.values
    named = [Token(spelled(word, known), word.at) for word in words]
    for at in range(1, len(words)):
        if program([named[at], *words[at + 1 :]]) in DIALECTS:
            before = _known_options(words[:at], script)
            return [*before, named[at], *words[at + 1 :]]
    return words


def _known_options(words: Sequence[Token], script: Script) -> list[Token]:
    """Return srun and its options, without variables that are not a value of an option."""
    kept = [words[0]]
    for before, word in pairwise(words):
        is_variable = _VARIABLE.fullmatch(word.raw) and not _needs_value(before.text)
        if is_variable and expanded(word, script.values) is None:
            meaning = "srun's options in it are left out: see what it holds, such as an image"
            script.remarks.choose(word.at, f"`{word.raw}`", meaning)
        else:
            kept.append(word)
    return kept


def _needs_value(text: str) -> bool:
    """Return whether the word after an option of srun is its value."""
    name = text[2:] if text.startswith("--") else SRUN.short.get(text[1:], "")
    return text.startswith("-") and name in SRUN.needed


_VARIABLE = re.compile(r"""\$\{?\w+\}?|"?\$\{\w+\[[@*]\]\}"?""")
"""A variable or an array as a word of its own."""


def _program_of_srun(words: Sequence[Token]) -> str:
    """Return what srun starts: torchrun, or a program that is a rank."""
    by = program(words)
    if by in OTHERS:
        raise RefusedError(words[0].at, f"`{by}`", OTHERS[by])
    if by not in {"", *DIALECTS}:
        reason = "each task would start all ranks"
        raise RefusedError(words[0].at, f"`srun {by}`", reason)
    return by or "srun"


def _need_own(options: Sequence[Option]) -> None:
    """Refuse options of srun that start other ranks than those of the job."""
    for option in options:
        if option.name in _REFUSED:
            reason = _REFUSED[option.name]
        elif option.name == "jobid" and "SLURM_JOB" not in option.value:
            reason = "it starts ranks in another job"
        else:
            continue
        raise RefusedError(option.at, f"srun {option.shown}", reason)


_OPEN = re.compile(r"""^"?\$\{\w+\[[@*]\]\}"?$""")
"""An array as a word of its own."""
_LAUNCHERS = re.compile(
    r"\b(torchrun|torch\.distributed\.(run|launch)|accelerate +launch|deepspeed +\S)"
)


def _need_no_launcher(words: Sequence[Token], by: str, script: Script) -> None:
    """Refuse a launcher inside of a script: each rank would start it."""
    text = script.parts.text(written(words))
    for name in sorted(names_in(text)):
        text += f" {script.known.get(name, '')}"
    launcher = _LAUNCHERS.search(text)
    if by == "srun" and launcher:
        reason = "it is inside of a script that can't be taken apart: call it by srun itself"
        raise RefusedError(words[0].at, f"`{launcher[0]}`", reason)


def _unwrapped_shell(words: Sequence[Token], script: Script) -> Sequence[Token]:
    """Return the call of torchrun or its like that is the whole script of ``bash -c``."""
    at = script_of(texts(words))
    if at != len(words) - 1:
        return words
    try:
        text = script.parts.text(words[at].text)
        commands = list(statements(words[at].at.file, text.split("\n"), 0))
    except RefusedError:
        return words
    first = commands[0] if len(commands) == 1 else None
    if first is None or program(first.words) not in DIALECTS or first.redirects:
        return words
    return [Token(word.raw, words[at].at) for word in first.words]
