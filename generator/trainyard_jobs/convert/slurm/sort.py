"""Sort the commands of a batch script: variables, set-up, other programs, and the launch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from trainyard_jobs.convert.slurm.assign import EXPORTS, assign, export, leading, unset, unsteady
from trainyard_jobs.convert.slurm.expand import names_in
from trainyard_jobs.convert.slurm.getopt import UnreadableError
from trainyard_jobs.convert.slurm.launchers import is_launch
from trainyard_jobs.convert.slurm.remarks import Remarks
from trainyard_jobs.convert.slurm.script import REPORTS, SAME_ANYWHERE, Line, Script
from trainyard_jobs.convert.slurm.shell import WRAP_WHOLE, Statement, Token
from trainyard_jobs.convert.slurm.simple import need_simple
from trainyard_jobs.convert.words import words

_SET_UP = words("module ml source . conda mamba micromamba spack pyenv activate")
_SHELL = words("ulimit umask trap wait true : hash sync")
_SLURM = words("scontrol sacct squeue scancel sbatch sstat seff sinfo sattach sbcast")
_JOINS = frozenset({"&&", "||"})


def read_script(
    file: str, found: Sequence[Statement], known: dict[str, str], remarks: Remarks
) -> Script:
    """Return the commands of a script by what they are.

    Raises:
        UnreadableError: it has a loop, a condition, a function, or several launches.
    """
    need_simple(found)
    chains = list(_chains(_pipes_as_one(found)))
    script = Script(file, dict(known), remarks, unsteady(chains))
    for chain in chains:
        before, after = len(script.before), len(script.after)
        _sort_chain(script, chain)
        script.before[before:] = _folded(script.before[before:])
        script.after[after:] = _folded(script.after[after:])
    return script


def _pipes_as_one(commands: Iterable[Statement]) -> Iterator[Statement]:
    """Yield commands; one with a pipe as a whole, without a `tee` that follows a launch."""
    waiting: Statement | None = None
    for statement in commands:
        if waiting is None:
            waiting = statement
        elif is_launch(waiting) or is_launch(statement):
            if statement.name != "tee":
                raise UnreadableError(
                    statement.at,
                    f"a pipe to `{statement.name}`",
                    "the ranks' output goes to the pods' logs",
                )
            tee = Token(f"| {_text(statement)}", statement.at)
            redirects = (*waiting.redirects, tee)
            waiting = Statement(waiting.words, redirects, statement.end, waiting.raw)
        else:
            raw = f"{_text(waiting)} | {_text(statement)}"
            waiting = Statement(waiting.words, (), statement.end, raw)
        if waiting.end != "|":
            yield waiting
            waiting = None
    if waiting is not None:
        yield waiting


def _chains(commands: Iterable[Statement]) -> Iterator[list[Statement]]:
    """Yield commands; those that ``&&`` and ``||`` join are together."""
    chain: list[Statement] = []
    for statement in commands:
        chain.append(statement)
        if statement.end not in _JOINS:
            yield chain
            chain = []
    if chain:
        yield chain


def _sort_chain(script: Script, chain: Sequence[Statement]) -> None:
    """Take commands of which each decides whether the next one runs.

    One that is not in the TrainJob counts as one that succeeded.
    """
    skips = decides = False
    for each in chain:
        if skips or script.is_over:
            reason = "`exec` ends the script" if script.is_over else _SKIPPED
            script.remarks.dropped(each.at, f"`{_text(each)}`", reason)
        else:
            decides = _sort_member(script, each, decides=decides)
        skips = each.end == "||" and not decides


def _sort_member(script: Script, each: Statement, *, decides: bool) -> bool:
    """Take a command of a chain, and return whether a kept one decides what follows.

    Args:
        script: which has read the commands before.
        each: the command.
        decides: whether a kept one decides if this one runs.
    """
    lines, launch, end = script.lines, script.launch, each.end if each.end in _JOINS else ""
    number = len(lines)
    _sort(script, each, perhaps=decides)
    if script.launch is not launch:
        return True
    if len(lines) > number:
        lines[-1] = replace(lines[-1], end=end)
        return True
    if decides:
        lines.append(Line(":", each.at, ":", end=end))
    return decides


_SKIPPED = "it ran only where the command before it failed, which is not here"


def _folded(lines: Sequence[Line]) -> list[Line]:
    """Return commands; those that an operator joins are one, which stays or goes as a whole."""
    out: list[Line] = []
    for line in lines:
        if out and out[-1].end:
            out[-1] = _joined(out[-1], line)
        else:
            out.append(line)
    return out


def _joined(first: Line, then: Line) -> Line:
    return replace(
        first,
        text=f"{first.text} {first.end} {then.text}",
        name=min(first.name, then.name, key=_weight),
        sets=first.sets | then.sets,
        exports=first.exports or then.exports,
        end=then.end,
    )


def _weight(name: str) -> int:
    """Return a number that is the smaller, the more a program matters."""
    return 3 if not name else 2 if name in REPORTS else 1 if name in SAME_ANYWHERE else 0


def _text(each: Statement) -> str:
    return " ".join([each.raw, *(token.raw for token in each.redirects)])


def _sort(script: Script, each: Statement, *, perhaps: bool) -> None:
    assigned = leading(each.words)
    if assigned == len(each.words):
        assign(script, each.words, exports=False, perhaps=perhaps)
    elif is_launch(each):
        _launch(script, each, assigned)
    elif each.words[assigned].raw in EXPORTS and not assigned:
        export(script, each, perhaps=perhaps)
    else:
        name = each.words[assigned].text.rpartition("/")[2]
        _KINDS.get(name, _other)(script, each)


def _launch(script: Script, each: Statement, assigned: int) -> None:
    """Take the launch."""
    _drop_redirects(script, each)
    words = tuple(script.parts.words(each.words[assigned:]))
    read = set().union(*(names_in(word.raw) for word in words))
    for word in each.words[:assigned]:
        if word.raw.partition("=")[0].rstrip("+") in read:
            reason = "the shell reads the words before it assigns the variable"
            raise UnreadableError(word.at, f"`{word.raw}`", reason, _BEFORE)
    assign(script, each.words[:assigned], exports=True)
    raw = " ".join(word.raw for word in each.words[assigned:])
    end = "" if words[0].raw == "exec" else each.end
    script.launch = Statement(words, (), end, raw)


def _drop_redirects(script: Script, each: Statement) -> None:
    for redirect in each.redirects:
        if redirect.raw.startswith("<"):
            raise UnreadableError(redirect.at, f"`{redirect.raw}`", "a pod has no standard input")
    if each.redirects:
        shown = " ".join(token.raw for token in each.redirects)
        meaning = "the output is in the pods' logs: `kubectl logs`"
        script.remarks.dropped(each.redirects[0].at, f"`{shown}`", meaning)


_BEFORE = "Export the variable in a line before, if the ranks' arguments shall have its new value."


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


def _options(script: Script, each: Statement) -> None:
    """Take ``set``, which may also change the parameters or export all that follows."""
    for word in each.words[1:]:
        options = word.raw[:1] in {"-", "+"} and not {"a", "k", "-"} & set(word.raw[1:])
        if not options and word.raw not in {"pipefail", "errexit", "nounset", "xtrace"}:
            _unread(script, each)
    _other(script, each)


def _replaced(script: Script, each: Statement) -> None:
    """Take ``exec`` without a program, which moves the output of all that follows."""
    if len(each.words) > 1:
        _other(script, each)
    else:
        meaning = "the output is in the pods' logs: `kubectl logs`"
        script.remarks.dropped(each.at, f"`{_text(each)}`", meaning)


def _evaluated(script: Script, each: Statement) -> None:
    """Take ``eval``, which sets up a shell where it runs what a program prints."""
    is_printed = all(word.raw.strip('"').startswith(("$(", "`")) for word in each.words[1:])
    (_set_up if is_printed else _unread)(script, each)


def _unread(_: Script, each: Statement) -> None:
    reason = "it changes variables in a way that can't be followed"
    raise UnreadableError(each.at, f"`{_text(each)}`", reason, WRAP_WHOLE)


def _printed(script: Script, each: Statement) -> None:
    (_unread if any(word.raw == "-v" for word in each.words) else _other)(script, each)


def _other(script: Script, each: Statement) -> None:
    name = each.words[leading(each.words)].text.rpartition("/")[2]
    script.lines.append(Line(_text(each), each.at, name))


_KINDS: dict[str, Callable[[Script, Statement], None]] = {
    **dict.fromkeys(_SET_UP, _set_up),
    **dict.fromkeys(_SHELL, _shell),
    **dict.fromkeys(_SLURM, _slurm),
    **dict.fromkeys(words("read mapfile readarray getopts let shift alias local enable"), _unread),
    "cd": _folder,
    "eval": _evaluated,
    "exec": _replaced,
    "popd": _folder,
    "printf": _printed,
    "pushd": _folder,
    "set": _options,
    "unset": unset,
}
