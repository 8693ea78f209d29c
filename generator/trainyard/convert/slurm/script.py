"""Sort the commands of a batch script: variables, set-up, other programs, and the launch."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from trainyard.convert.slurm.expand import expanded, names_in
from trainyard.convert.slurm.getopt import UnreadableError
from trainyard.convert.slurm.launchers import is_launch
from trainyard.convert.slurm.parts import Parts
from trainyard.convert.slurm.remarks import Remarks
from trainyard.convert.slurm.shell import Statement, Token
from trainyard.convert.slurm.simple import need_simple
from trainyard.convert.slurm.variables import reason_to_drop
from trainyard.convert.words import words
from trainyard.diagnostics import Pointer

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)\+?=")
_SET_UP = words("module ml source . conda mamba micromamba spack eval pyenv activate")
_SHELL = words("ulimit umask trap wait true : unset hash sync")
SAME_ANYWHERE = frozenset({"cd", "exit", "popd", "pushd", "set", "shopt"})
"""Commands of the shell that mean the same in every pod."""
_SLURM = words("scontrol sacct squeue scancel sbatch sstat seff sinfo sattach sbcast")
OF_SLURM = re.compile(r"\b(scontrol|squeue|sacct|sinfo|srun)\b")
"""Programs that no pod has."""
REPORTS = words(
    """
    echo date hostname pwd env printenv nvidia-smi which whoami uname lscpu free df printf
    id ibstat ibv_devinfo nproc uptime
    """
)
"""Programs that only print something."""


@dataclass(frozen=True, slots=True)
class Line:
    """A command that the job may run beside its launch.

    Args:
        text: as the script writes it.
        name: program; empty for an assignment.
        sets: variables that it assigns.
        exports: whether the ranks have them.
        end: operator that joins it to the next command.
    """

    text: str
    at: Pointer
    name: str
    sets: frozenset[str] = frozenset()
    exports: bool = False
    end: str = ""

    @property
    def reads(self) -> set[str]:
        """Names of the variables that it reads."""
        return names_in(self.text)


@dataclass(slots=True)
class Script:
    """The commands of a script.

    Args:
        file: its name for messages.
        known: variables with a value before it runs.
        parts: variables that hold a part of a command.
        env: those of them that the ranks have, with their places.
        before, after: other commands, as seen from the launch.
        launch: the command that starts the ranks; None where no line of the script does.
        once: the program that Slurm runs once, where there is no launch.
    """

    file: str
    known: dict[str, str]
    remarks: Remarks
    parts: Parts = field(default_factory=Parts)
    env: dict[str, tuple[str, Pointer]] = field(default_factory=dict)
    before: list[Line] = field(default_factory=list)
    after: list[Line] = field(default_factory=list)
    launch: Statement | None = None
    once: Line | None = None

    @property
    def started(self) -> Pointer | None:
        """The place of the command that the job is for."""
        found = self.launch or self.once
        return found.at if found else None

    @property
    def set_by_slurm(self) -> set[str]:
        """Variables whose values come from Slurm's programs, by way of other variables too."""
        found: set[str] = set()
        for line in self.before:
            if OF_SLURM.search(line.text) or line.reads & found:
                found |= line.sets
        return found

    def has(self, each: Statement) -> bool:
        """Return whether a command is one of the launch and the commands around it."""
        places = [line.at for line in (*self.before, *self.after)]
        launch = self.launch.at if self.launch else None
        return launch in {word.at for word in each.words} or each.at in places

    def put(self, line: Line) -> None:
        """Add a command before or after the launch."""
        (self.before if self.launch is None else self.after).append(line)


def read_script(
    file: str, found: Sequence[Statement], known: dict[str, str], remarks: Remarks
) -> Script:
    """Return the commands of a script by what they are.

    Raises:
        UnreadableError: it has a loop, a condition, a function, or several launches.
    """
    need_simple(found)
    script = Script(file, dict(known), remarks)
    skips = False
    for each in _pipes_as_one(found):
        if skips:
            meaning = "it ran only where the command before it failed, which is not here"
            remarks.dropped(each.at, f"`{_text(each)}`", meaning)
        else:
            _sort(script, each)
        skips = each.end == "||" and (skips or not script.has(each))
    return script


def _pipes_as_one(found: Iterable[Statement]) -> Iterator[Statement]:
    """Yield commands; one with a pipe as a whole, without a `tee` that follows a launch."""
    waiting: Statement | None = None
    for each in found:
        if waiting is None:
            waiting = each
        elif is_launch(waiting) or is_launch(each):
            if each.name != "tee":
                raise UnreadableError(
                    each.at, f"a pipe to `{each.name}`", "the ranks' output goes to the pods' logs"
                )
            tee = Token(f"| {_text(each)}", each.at)
            redirects = (*waiting.redirects, tee)
            waiting = Statement(waiting.words, redirects, each.end, waiting.raw)
        else:
            raw = f"{_text(waiting)} | {_text(each)}"
            waiting = Statement(waiting.words, (), each.end, raw)
        if waiting.end != "|":
            yield waiting
            waiting = None
    if waiting is not None:
        yield waiting


def _text(each: Statement) -> str:
    return " ".join([each.raw, *(token.raw for token in each.redirects)])


def _sort(script: Script, each: Statement) -> None:
    assigned = _leading(each.words)
    if assigned == len(each.words):
        _assign(script, each.words, exports=False)
    elif is_launch(each):
        _launch(script, each, assigned)
    else:
        name = each.words[assigned].text.rpartition("/")[2]
        _KINDS.get(name, _other)(script, each)


def _leading(found: Sequence[Token]) -> int:
    """Return how many assignments a command begins with."""
    return next((i for i, word in enumerate(found) if not _ASSIGNMENT.match(word.raw)), len(found))


def _launch(script: Script, each: Statement, assigned: int) -> None:
    for word in each.words[:assigned]:
        _assign(script, (word,), exports=True)
    for redirect in each.redirects:
        if redirect.raw.startswith("<"):
            raise UnreadableError(redirect.at, f"`{redirect.raw}`", "a pod has no standard input")
    if each.redirects:
        shown = " ".join(token.raw for token in each.redirects)
        meaning = "the output is in the pods' logs: `kubectl logs`"
        script.remarks.dropped(each.redirects[0].at, f"`{shown}`", meaning)
    raw = " ".join(word.raw for word in each.words[assigned:])
    words = tuple(script.parts.words(each.words[assigned:]))
    script.launch = Statement(words, (), each.end, raw)


def _assign(script: Script, found: Sequence[Token], *, exports: bool, prefix: str = "") -> None:
    """Take assignments: those with a value that is known, and the others as commands."""
    for word in found:
        name, equals, _ = word.raw.partition("=")
        if not equals:
            _export_later(script, name, word.at)
        elif not (exports and _is_dropped(script, word)):
            _set(script, word, name, prefix=prefix, exports=exports)


def _is_dropped(script: Script, word: Token) -> bool:
    name, _, value = word.text.partition("=")
    if reason := reason_to_drop(name, value):
        script.remarks.dropped(word.at, f"variable {name}", reason)
    return bool(reason)


def _set(script: Script, word: Token, name: str, *, prefix: str, exports: bool) -> None:
    value = _value(script, word, name)
    script.parts.note(name, word.raw.partition("=")[2])
    if value is None or not exports:
        names = frozenset({name.rstrip("+")})
        script.put(Line(f"{prefix}{word.raw}", word.at, "", names, exports))
    if value is not None:
        script.known[name] = value
        if exports:
            _put_env(script, name, value, word.at)


def _value(script: Script, word: Token, name: str) -> str | None:
    """Return the value that an assignment gives, if it is known before the script runs."""
    _, _, raw = word.raw.partition("=")
    if raw.startswith("(") or name.endswith("+"):
        return None
    return expanded(Token(raw, word.at), script.known) if raw else ""


def _put_env(script: Script, name: str, value: str, at: Pointer) -> None:
    if value:
        script.env[name] = (value, at)
    else:
        script.remarks.dropped(at, f"variable {name}", "it is empty, and admission refuses that")


def _export_later(script: Script, name: str, at: Pointer) -> None:
    """Export a variable that was assigned before."""
    if name in script.known and not name.startswith("SLURM_"):
        _put_env(script, name, script.known[name], at)
    lines = script.before
    for index, line in enumerate(lines):
        if name in line.sets and name not in script.known:
            lines[index] = Line(f"export {line.text}", line.at, "", line.sets, exports=True)


def _export(script: Script, each: Statement) -> None:
    found = [word for word in each.words[1:] if not word.raw.startswith("-")]
    _assign(script, found, exports=True, prefix="export ")


def _set_up(script: Script, each: Statement) -> None:
    meaning = "the image must hold what it provides"
    script.remarks.dropped(each.at, f"`{_text(each)}`", meaning)


def _shell(script: Script, each: Statement) -> None:
    if each.name == "trap":
        meaning = "an evicted job's ranks get SIGTERM themselves, with the runtime's `grace`"
        script.remarks.dropped(each.at, f"`{_text(each)}`", meaning)
    elif each.name in {"ulimit", "umask"}:
        script.remarks.dropped(each.at, f"`{_text(each)}`", "the node and the image set limits")


def _slurm(script: Script, each: Statement) -> None:
    script.remarks.dropped(each.at, f"`{_text(each)}`", "no pod has Slurm's commands")


def _folder(script: Script, each: Statement) -> None:
    if "SLURM_SUBMIT_DIR" in each.raw:
        meaning = "the command runs in the image's working directory"
        script.remarks.dropped(each.at, f"`{_text(each)}`", meaning)
    else:
        _other(script, each)


def _other(script: Script, each: Statement) -> None:
    end = each.end if each.end in {"&&", "||"} else ""
    name = each.words[_leading(each.words)].text.rpartition("/")[2]
    script.put(Line(_text(each), each.at, name, end=end))


_KINDS: dict[str, Callable[[Script, Statement], None]] = {
    **dict.fromkeys(("export", "declare", "typeset", "readonly"), _export),
    **dict.fromkeys(_SET_UP, _set_up),
    **dict.fromkeys(_SHELL, _shell),
    **dict.fromkeys(_SLURM, _slurm),
    "cd": _folder,
    "pushd": _folder,
    "popd": _folder,
}
