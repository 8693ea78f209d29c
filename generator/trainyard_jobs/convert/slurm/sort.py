"""Sort the commands of a batch script: variables, set-up, other programs, and the launch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NoReturn

from trainyard_jobs.convert.model import RefusedError
from trainyard_jobs.convert.remarks import Remarks
from trainyard_jobs.convert.slurm.assign import (
    ELEMENT,
    EXPORTS,
    assign,
    assign_element,
    export,
    leading,
    unsteady,
)
from trainyard_jobs.convert.slurm.blocks import framed, take_block
from trainyard_jobs.convert.slurm.expand import read_by
from trainyard_jobs.convert.slurm.launchers import is_launch
from trainyard_jobs.convert.slurm.script import (
    LAUNCH,
    REPORTS,
    SAME_ANYWHERE,
    Line,
    Script,
)
from trainyard_jobs.convert.slurm.set_aside import (
    SILENT,
    UNREAD,
    meaning_of_dropped,
    take_redirects,
)
from trainyard_jobs.convert.slurm.shell import Statement, Token, written
from trainyard_jobs.convert.slurm.simple import convertible, is_framed
from trainyard_jobs.convert.slurm.unset import unset

_JOINS = frozenset({"&&", "||"})


def read_script(
    file: str, commands: Sequence[Statement], known: dict[str, str], remarks: Remarks
) -> Script:
    """Return the commands of a script by what they are.

    What has no counterpart is noted as refused, and left out.
    """
    kept = convertible(commands, remarks)
    chains = list(_chains(_pipes_as_one(kept, remarks)))
    script = Script(file, dict(known), remarks, unsteady(chains), is_framed=is_framed(kept))
    for chain in chains:
        before, after = len(script.before), len(script.after)
        with remarks.collected():
            _sort_chain(script, chain)
        script.before[before:] = _folded(script.before[before:])
        script.after[after:] = _folded(script.after[after:])
    return script


def _pipes_as_one(commands: Iterable[Statement], remarks: Remarks) -> Iterator[Statement]:
    """Yield commands; one with a pipe as a whole, without a `tee` that follows a launch."""
    waiting: Statement | None = None
    for statement in commands:
        if waiting is None:
            waiting = statement
        elif any(map(is_launch, (*waiting.simple, *statement.simple))):
            if statement.name != "tee":
                reason = "the ranks' output goes to the pods' logs"
                what = f"a pipe to `{statement.name}`"
                remarks.add(RefusedError(statement.at, what, reason).remark)
            tee = Token(f"{waiting.end} {statement.whole}", statement.at)
            waiting = replace(waiting, redirects=(*waiting.redirects, tee), end=statement.end)
        else:
            raw = f"{waiting.whole} {waiting.end} {statement.whole}"
            waiting = Statement(waiting.words, (), statement.end, raw)
        if waiting.end not in _PIPES:
            yield waiting
            waiting = None
    if waiting is not None:
        yield waiting


_PIPES = frozenset({"|", "|&"})


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
    for statement in chain:
        if skips or script.is_over:
            _drop(script, statement, "`exec` ends the script" if script.is_over else _SKIPPED)
        else:
            decides = _sort_member(script, statement, decides=decides)
        skips = statement.end == "||" and not decides


def _sort_member(script: Script, statement: Statement, *, decides: bool) -> bool:
    """Take a command of a chain, and return whether a kept one decides what follows.

    Args:
        script: which has read the commands before.
        statement: the command.
        decides: whether a kept one decides if this one runs.
    """
    launch, number = script.launch, script.length
    end = statement.end if statement.end in _JOINS else ""
    _sort(script, statement, perhaps=decides)
    if script.launch is not launch and not script.is_framed:
        return True
    lines = script.lines
    if script.length > number:
        lines[-1] = replace(lines[-1], end=end)
        return True
    if decides:
        lines.append(Line(":", statement.at, ":", end=end))
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
        exported=first.exported | then.exported,
        end=then.end,
    )


def _weight(name: str) -> int:
    """Return a number that is the smaller, the more a program matters."""
    if name == LAUNCH:
        return -1
    return 3 if not name else 2 if name in REPORTS else 1 if name in SAME_ANYWHERE else 0


def _sort(script: Script, statement: Statement, *, perhaps: bool) -> None:
    if statement.inner is not None:
        take_block(script, statement)
        return
    statement = _followed(script, statement)
    words, assigned = statement.words, leading(statement.words)
    if ELEMENT.match(words[0].raw):
        assign_element(script, statement)
    elif assigned == len(words):
        assign(script, words, exports=False, perhaps=perhaps)
    elif is_launch(statement):
        _launch(script, statement, assigned)
    elif words[0].raw in EXPORTS:
        export(script, statement, perhaps=perhaps)
    else:
        _take(script, statement, words[assigned].text.rpartition("/")[2])


def _followed(script: Script, statement: Statement) -> Statement:
    """Return a command; one that is the value of a variable and starts ranks has its words."""
    if not statement.words[0].raw.lstrip('"').startswith("$"):
        return statement
    parts = replace(script.parts, used=set())
    words = tuple(parts.words(statement.words))
    launch = replace(statement, words=words)
    if not is_launch(launch):
        return statement
    if script.launch and not script.is_framed:
        raise statement.refused("it is a second launch, which only a run of the script shows")
    script.parts.used |= parts.used
    return launch


def _take(script: Script, statement: Statement, program: str) -> None:
    """Take a command that is neither an assignment nor the launch."""
    if meaning := meaning_of_dropped(statement):
        _drop(script, statement, meaning)
    elif program not in SILENT or statement.redirects:
        _KINDS.get(program, _other)(script, statement)


def _drop(script: Script, statement: Statement, meaning: str) -> None:
    script.remarks.dropped(statement.at, f"`{statement.whole}`", meaning)


def _launch(script: Script, statement: Statement, assigned: int) -> None:
    """Take the launch."""
    if script.is_framed:
        text = framed(script, statement)
        script.lines.append(Line(text, statement.at, LAUNCH))
        return
    take_redirects(script, statement)
    assignments, call = statement.words[:assigned], statement.words[assigned:]
    words = tuple(script.parts.words(call))
    read = read_by(words)
    for word in assignments:
        if word.raw.partition("=")[0].rstrip("+") in read:
            reason = "the shell reads the words before it assigns the variable"
            raise RefusedError(word.at, f"`{word.raw}`", reason, _BEFORE)
    assign(script, assignments, exports=True)
    end = "" if words[0].raw == "exec" else statement.end
    script.launch = Statement(words, (), end, written(call))


_BEFORE = "Export the variable in a line before, if the ranks' arguments shall have its new value."


def _options(script: Script, statement: Statement) -> None:
    """Take ``set``, which may also change the parameters or export all that follows."""
    for word in statement.words[1:]:
        options = word.raw[:1] in {"-", "+"} and not {"a", "k", "-"} & set(word.raw[1:])
        if not options and word.raw not in {"pipefail", "errexit", "nounset", "xtrace"}:
            _unread(script, statement)
    _other(script, statement)


def _unread(_: Script, statement: Statement) -> NoReturn:
    reason = "it changes variables in a way that can't be followed"
    raise RefusedError(statement.at, f"`{statement.whole}`", reason)


def _printed(script: Script, statement: Statement) -> None:
    if any(word.raw == "-v" for word in statement.words):
        _unread(script, statement)
    _other(script, statement)


def _other(script: Script, statement: Statement) -> None:
    program = statement.words[leading(statement.words)].text.rpartition("/")[2]
    script.lines.append(Line(statement.whole, statement.at, program))


_KINDS: dict[str, Callable[[Script, Statement], None]] = {
    **dict.fromkeys((*UNREAD, "eval"), _unread),
    "printf": _printed,
    "set": _options,
    "unset": unset,
}
