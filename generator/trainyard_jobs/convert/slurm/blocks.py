"""Take what stands around launches in blocks: loops, conditions, functions and here-documents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from trainyard_jobs.convert.slurm.assign import ASSIGNMENT, EXPORTS, FIXED, forget, leading
from trainyard_jobs.convert.slurm.grammar import Span
from trainyard_jobs.convert.slurm.launchers import is_launch
from trainyard_jobs.convert.slurm.script import (
    LAUNCH,
    REPORTS,
    SAME_ANYWHERE,
    Launch,
    Line,
    Script,
    mark,
)
from trainyard_jobs.convert.slurm.set_aside import UNREAD, meaning_of_dropped, take_redirects
from trainyard_jobs.convert.slurm.shell import Statement, Token, written
from trainyard_jobs.convert.slurm.variables import reason_to_drop

Edit = tuple[Span, str]
"""A part of a script, and what takes its place."""

_READS = frozenset({"read", "mapfile", "readarray", "getopts"})
_OF_FUNCTIONS = frozenset({"shift", "local"})
_PREFIXES = frozenset({"exec", "time", "nohup", "command"})
_WEIGHTS = {**dict.fromkeys(REPORTS, 2), **dict.fromkeys(SAME_ANYWHERE, 1), "": 0}


def take_block(script: Script, statement: Statement) -> None:
    """Take a block of commands, which stays as it is but for what no pod has.

    Raises:
        RefusedError: it changes variables in a way that can't be followed.
    """
    _need_followed(script, statement)
    is_function = _is_function(statement)
    sets, exported = set(statement.loops), set[str]()
    for each in statement.simple:
        names = set(_names(each))
        sets |= names
        exported |= names if _exports(each) else set()
    _need_writable(script, statement, sets)
    forget(script, sets)
    edits: list[Edit] = []
    for each in statement.simple:
        edits += _edits(script, each, in_function=is_function)
    text, name = _edited(statement, edits), _name(statement)
    if name == LAUNCH or not _NOTHING.fullmatch(_KEYWORDS.sub("", text)):
        line = Line(text, statement.at, name, frozenset(sets), frozenset(exported))
        script.lines.append(line)


_NOTHING = re.compile(r"[\s:;{}()]*")
_KEYWORDS = re.compile(r"\b(if|then|else|fi|do|done|esac)\b")


def _need_followed(script: Script, statement: Statement) -> None:
    allowed = _READS | _OF_FUNCTIONS if _is_function(statement) else _READS
    for each in statement.simple:
        if each.name in UNREAD - allowed:
            raise each.refused("it changes variables in a way that can't be followed")
        alone = len(each.words) == leading(each.words)
        fixed = script.fixed | ({"IFS", "BASH_ENV"} if alone else set())
        if not fixed.isdisjoint(_names(each)):
            raise each.refused("its variables can't be followed")


def _need_writable(script: Script, statement: Statement, names: AbstractSet[str]) -> None:
    if fixed := sorted(names & script.fixed):
        raise statement.refused(FIXED.format(fixed[0]))


def _is_function(statement: Statement) -> bool:
    return bool(re.match(r"function\s|[\w-]+\s*\(\s*\)", statement.raw))


def _names(statement: Statement) -> Iterator[str]:
    """Yield the variables that a simple command sets for those that follow."""
    words, program = statement.words, statement.words[0].raw
    if leading(words) == len(words):
        named = words
    elif program in {*EXPORTS, "unset", "local", *_READS}:
        named = tuple(word for word in words[1:] if not word.raw.startswith("-"))
    else:
        return
    for word in named:
        yield re.split(r"\+?=|\[", word.raw)[0]


def _exports(statement: Statement) -> bool:
    words = statement.words
    return words[0].raw == "export" or (
        words[0].raw in EXPORTS and any(re.match("-.*x", word.raw) for word in words[1:])
    )


def _name(statement: Statement) -> str:
    """Return the program of a block that matters most; empty where it only sets variables."""
    if any(map(is_launch, statement.simple)):
        return LAUNCH
    if _is_function(statement):
        return "function"
    names = [each.name for each in statement.inner or () if not _only_sets(each)]
    return max(names, key=lambda name: _WEIGHTS.get(name, 3), default="")


def _only_sets(statement: Statement) -> bool:
    tests = {"[", "[[", "test", ":", "true", "false", "unset"}
    return bool(list(_names(statement))) or statement.name in tests


def _edits(script: Script, statement: Statement, *, in_function: bool) -> Iterator[Edit]:
    """Yield what changes of a simple command of a block."""
    if is_launch(statement):
        yield statement.span, framed(script, statement, in_function=in_function)
    elif meaning := meaning_of_dropped(statement):
        script.remarks.dropped(statement.at, f"`{statement.whole}`", meaning)
        yield statement.span, ":"
    else:
        yield from _without_variables(script, statement)


def _without_variables(script: Script, statement: Statement) -> Iterator[Edit]:
    """Yield a command without the variables that the runtime or nobody needs."""
    words = statement.words
    kept = [word for word in words if not _is_dropped(script, statement, word)]
    if len(kept) < len(words):
        is_nothing = all(word.raw in EXPORTS for word in kept)
        yield statement.span, ":" if is_nothing else written(kept)


def _is_dropped(script: Script, statement: Statement, word: Token) -> bool:
    """Return whether a word sets a variable for ranks that the runtime or nobody needs."""
    match = ASSIGNMENT.match(word.raw)
    if not match or not (_exports(statement) or match[1] in script.exported):
        return False
    reason = reason_to_drop(match[1], word.text.partition("=")[2])
    if reason:
        script.remarks.dropped(word.at, f"variable {match[1]}", reason)
    return bool(reason)


def framed(script: Script, statement: Statement, *, in_function: bool = False) -> str:
    """Take a launch that stays where it is, and return what stands there."""
    take_redirects(script, statement)
    assigned = leading(statement.words)
    prefix = [word for word in statement.words[:assigned] if not _of_nobody(script, word)]
    sets = frozenset(word.raw.partition("=")[0].rstrip("+") for word in prefix)
    _need_writable(script, statement, sets)
    call = list(statement.words[assigned:])
    while call and call[0].raw in _PREFIXES:
        prefix.append(call.pop(0))
    words = tuple(script.parts.words(call))
    before = f"{written(prefix)} " if prefix else ""
    start = Statement(words, (), statement.end, written(call))
    script.launches.append(Launch(start, before, sets, in_function))
    script.launch = script.launch or start
    return mark(len(script.launches) - 1)


def _of_nobody(script: Script, word: Token) -> bool:
    name, _, value = word.text.partition("=")
    if reason := reason_to_drop(name.rstrip("+"), value):
        script.remarks.dropped(word.at, f"variable {name}", reason)
    return bool(reason)


def _edited(statement: Statement, edits: list[Edit]) -> str:
    """Return the text of a block with changes in it."""
    text, position = "", statement.span[0]
    raw = statement.raw.encode()
    for span, part in sorted(edits):
        text += raw[position - statement.span[0] : span[0] - statement.span[0]].decode() + part
        position = span[1]
    return text + raw[position - statement.span[0] :].decode()
