"""Find what does not work in a script that is carried over as it is.

A script is neither run nor taken apart: a note is about what is found, and its reader changes it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from trainyard.model.launcher import INTEL_MPI
from trainyard_jobs.convert.arguments import HYDRA, OPEN_MPI, Line, Option, read_line
from trainyard_jobs.convert.foreign_variables import MEANING, is_of_a_fabric
from trainyard_jobs.convert.launch import ONE_DASH
from trainyard_jobs.convert.model import Kind
from trainyard_jobs.convert.options import GIVEN, Ranks, judge, may_stay, parameter, per_node

Remark = tuple[Kind, str, str]
"""Kind, what and meaning of a note about a script."""

_BEGIN = r"(?:^|(?<=[\n;&|(){}`!\"'])|\b(?:do|then|else|until|while|if|exec|time|sudo)\s)[ \t]*"
"""What comes before a command of a shell."""
_LOGIN = re.compile(
    rf"{_BEGIN}(?:timeout\s+\S+\s+)?((?:/usr/bin/)?(?:ssh|scp|sftp|ssh-keyscan|ssh-copy-id|sshpass"
    r"|rsh|pdsh|pdcp|pssh|parallel-ssh|clush|dsh)[ \t]+[^\n;&|<>()]+)"
    r"|(\b(?:nc|ncat|telnet)\s[^\n]{0,200}?\s22\b|/dev/tcp/\S+/22\b)"
)
LOGIN_MEANING = (
    "no pod lets it in: `mpirun` alone has port, user and key of the nodes' sshd, and the "
    "launcher, which /etc/mpi/hostfile may name too, runs none. Leave a wait for hosts out, since "
    "the command starts when every node is ready; run a program on each node by `mpirun`"
)
_CALL = re.compile(r"(?<![\w-])(?:mpirun|mpiexec(?:\.hydra)?|orterun|prterun)\b\)?(?=[ \t])")
_WORD = re.compile(
    r"""[ \t]+((?:"(?:\\.|[^"\\])*"|'[^']*'|\$\([^()]*\)|\$\{[^}]*\}|\\.|[^\s;&|()<>"'\\])+)"""
)
_PARAMETER = re.compile(
    r"(?<![\w-])--?(?:g|gp|gprte|o|pmix|prte)?mca[ \t]+(\S+)[ \t]+([^\s;&|\"']+)"
)
_SET = re.compile(r"(?<![A-Za-z0-9_])((?:OMPI|PMIX|PRTE)_MCA_(\w+))=([^\s;&|]*)")
_CONSTANT = re.compile(r"(?<![A-Za-z0-9_$])(?<!\$\{)[A-Z][A-Z0-9_]+")
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)")
_SHOWN = 40
"""Characters of a command that a note quotes."""
_MOST = 20
"""Variables with options in one call."""
_CONTINUED = re.compile(r"\\\n[ \t]*")


def slots_of(script: str, ranks: Ranks) -> int:
    """Return how many ranks all calls of a script start on each node; 0 where they differ."""
    numbers = {per_node(line) for line in _calls(_CONTINUED.sub(" ", script), ranks)}
    return numbers.pop() if len(numbers) == 1 else 0


def remarks_of(script: str, ranks: Ranks) -> Iterator[Remark]:
    """Yield what a script of a launcher does although the runtime decides it."""
    text = _CONTINUED.sub(" ", script)
    for line in _calls(text, ranks):
        yield from _of_call(line, ranks)
    yield from _parameters(text)
    for name in sorted(filter(is_of_a_fabric, set(_CONSTANT.findall(text)))):
        yield Kind.CHOOSE, name, f"leave it out: {MEANING}"
    if "horovodrun" in text:
        meaning = "write mpirun in its place: Trainer gives it the nodes and their slots"
        yield Kind.CHOOSE, "horovodrun", meaning
    if ranks.launcher == INTEL_MPI.name:
        (own,) = INTEL_MPI.command
        yield Kind.CHOOSE, "the script", f"it must call {own} in place of mpirun or mpiexec"


def logins(script: str) -> Iterator[Remark]:
    """Yield the first command of a script that logs in to another pod."""
    if found := _LOGIN.search(script):
        shown = " ".join((found[1] or found[2]).split())
        yield Kind.CHOOSE, f"`{shown[:_SHOWN]}`", LOGIN_MEANING


def calls_mpi(script: str) -> bool:
    """Return whether a script starts ranks with MPI."""
    return _CALL.search(script) is not None


def _calls(text: str, ranks: Ranks) -> Iterator[Line]:
    """Yield the calls of MPI in a script, each up to the end of its command."""
    known = HYDRA if ranks.launcher == INTEL_MPI.name else OPEN_MPI
    call = _CALL.search(text)
    while call:
        words, position = ["mpirun"], call.end()
        while word := _WORD.match(text, position):
            words.append(_plain(word[1]))
            position = word.end()
        line = read_line(words, known)
        for _ in range(_MOST):
            if line.rest and _holds_options(line.rest[0], text):
                del words[line.start]
                line = read_line(words, known)
        yield line
        call = _CALL.search(text, position)


def _holds_options(word: str, text: str) -> bool:
    """Return whether a word is a variable to which the script gives options."""
    name = _VARIABLE.match(word)
    given = rf"(?<![\w$]){name[1]}\+?=[\"'(]*\s*-" if name else ""
    return bool(given) and re.search(given, text) is not None


def _plain(word: str) -> str:
    """Return a word without quotes, or as it is where they can't be taken off."""
    try:
        return "".join(shlex.split(word))
    except ValueError:
        return word


def _of_call(line: Line, ranks: Ranks) -> Iterator[Remark]:
    for option in line.options:
        shown = f"`{' '.join(option.words)}`"
        if option.name in ONE_DASH and not option.words[0].startswith("--"):
            meaning = "write it with two dashes: Open MPI 5 does not know it with one"
            yield Kind.CHOOSE, shown, meaning
        verdict = judge(line, option, ranks)
        if not verdict.meaning or _is_fine(option):
            continue
        if verdict.keep:
            yield verdict.kind, shown, verdict.meaning
        else:
            yield Kind.CHOOSE, shown, f"leave it out: {verdict.meaning}"


def _is_fine(option: Option) -> bool:
    """Return whether an option does no harm, or is found in the text where no call has it too."""
    is_found = option.name.endswith("mca") or option.name in {"env", "genv", "x"}
    return is_found or may_stay(option)


def _parameters(text: str) -> Iterator[Remark]:
    """Yield parameters of Open MPI, which may be in a variable too."""
    for match in _PARAMETER.finditer(text):
        meaning = parameter(match[1], match[2])
        if meaning and meaning != GIVEN:
            yield Kind.CHOOSE, f"`{' '.join(match[0].split())}`", f"leave it out: {meaning}"
    for match in _SET.finditer(text):
        meaning = parameter(match[2], match[3].strip("\"'"))
        if meaning and meaning != GIVEN:
            yield Kind.CHOOSE, match[1], f"leave it out: {meaning}"
