"""Follow the variables of a batch script, up to the launch."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from trainyard.diagnostics import Pointer
from trainyard_jobs.convert.slurm.expand import computed, expanded
from trainyard_jobs.convert.slurm.script import Line, Script
from trainyard_jobs.convert.slurm.shell import Statement, Token, elements_of
from trainyard_jobs.convert.slurm.variables import reason_to_drop

ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\+?)=")
ELEMENT = re.compile(r"([A-Za-z_]\w*)\[.*\]\+?=", re.DOTALL)
"""The begin of an assignment of one element of an array."""
_BRACE = re.compile(r"(?<!\$)\{")
EXPORTS = frozenset({"declare", "export", "readonly", "typeset"})
_OPTIONS = re.compile(r"-[agprx]*")
FOLLOWED = "its variables can't be followed"
FIXED = "`{}` is readonly, so bash leaves the rest of the line out"


def leading(words: Sequence[Token]) -> int:
    """Return how many assignments a command begins with."""
    return len(list(takewhile(lambda word: ASSIGNMENT.match(word.raw), words)))


def unsteady(chains: Iterable[Sequence[Statement]]) -> frozenset[str]:
    """Return variables with several values, or with one that depends on another command."""
    times: Counter[str] = Counter()
    for chain in chains:
        for index, statement in enumerate(chain):
            for name, adds in _assigned(statement):
                times[name] += 2 if index or adds else 1
    return frozenset(name for name, number in times.items() if number > 1)


def _assigned(statement: Statement) -> Iterator[tuple[str, bool]]:
    """Yield each variable that a command assigns, and whether its old value counts."""
    if statement.inner is not None:
        yield from _assigned_in(statement)
        return
    program, words = statement.words[0].raw, statement.words[: leading(statement.words)]
    if program in {*EXPORTS, "unset"}:
        words = statement.words[1:]
    if match := ELEMENT.match(program):
        yield match[1], True
    for word in words:
        if match := ASSIGNMENT.match(word.raw):
            yield match[1], bool(match[2])
        elif program == "unset":
            yield word.raw, True


def _assigned_in(block: Statement) -> Iterator[tuple[str, bool]]:
    """Yield each variable that a block may assign."""
    names = {name for inner in block.simple for name, _ in _assigned(inner)}
    for name in sorted({*names, *block.loops}):
        yield name, True


def assign(
    script: Script,
    words: Sequence[Token],
    *,
    exports: bool,
    prefix: str = "",
    perhaps: bool = False,
) -> None:
    """Take assignments: those with a value that is known, and the others as commands.

    Args:
        script: which has read the commands before.
        words: words, each an assignment or the name of a variable.
        exports: whether the ranks have the variables.
        prefix: command that assigns them.
        perhaps: whether another command decides if they take place.

    Raises:
        RefusedError: it changes how the shell reads the script.
    """
    for word in words:
        if match := ASSIGNMENT.match(word.raw):
            own = exports or match[1] in script.exported
            line = _line_of(word, match[1], prefix, own=own)
            _need_followed(match[1], line)
            _need_writable(script, match[1], line)
            if not own or not _is_dropped(script, word):
                _set(script, match, line, word, perhaps=perhaps)
        else:
            name = frozenset({word.raw})
            line = Line(f"{prefix}{word.raw}", word.at, "", name, name)
            _need_followed(word.raw, line)
            _export_later(script, word.raw, line)


def _line_of(word: Token, name: str, prefix: str, *, own: bool) -> Line:
    """Return an assignment as a command; the ranks have the variable if it is their own."""
    # `export A={1,2}` would assign twice, and `A={1,2}` does not.
    exported = f" && export {name}" if own and not prefix else ""
    names = frozenset({name})
    return Line(f"{prefix}{word.raw}{exported}", word.at, "", names, names if own else frozenset())


def forget(script: Script, names: Iterable[str]) -> None:
    """Take that variables get values that only a run of the script knows."""
    for name in names:
        script.known.pop(name, None)
        script.parts.forget(name)


def _need_followed(name: str, line: Line) -> None:
    if name in {"IFS", "BASH_ENV"} or not name.isidentifier():
        raise line.refused(FOLLOWED)


def _need_writable(script: Script, name: str, line: Line) -> None:
    if name in script.fixed:
        raise line.refused(FIXED.format(name))


def _is_dropped(script: Script, word: Token) -> bool:
    name, _, value = word.text.partition("=")
    if reason := reason_to_drop(name.rstrip("+"), value):
        script.remarks.dropped(word.at, f"variable {name}", reason)
    return bool(reason)


def _set(script: Script, match: re.Match[str], line: Line, word: Token, *, perhaps: bool) -> None:
    """Take one assignment; after the launch it is a command like others."""
    name, raw = match[1], word.raw[match.end() :]
    _need_one_kind(script, name, line, is_array=raw.startswith("("))
    if script.launch:
        script.after.append(line)
        if script.is_framed:
            forget(script, {name})
        return
    value = _follow(script, match, word, perhaps=perhaps, is_bare=line.text.startswith(word.raw))
    if value is None or not line.exported or script.is_seen(name):
        script.before.append(line)
    else:
        _put_env(script, name, value, word.at)
    script.known.pop(name, None)
    if value is not None:
        script.known[name] = value


def _follow(
    script: Script, match: re.Match[str], word: Token, *, perhaps: bool, is_bare: bool
) -> str | None:
    """Follow what an assignment gives, and return its value if it is known before the script runs.

    Bash takes braces apart where the assignment is a word of a command such as ``export``.
    """
    raw = Token(computed(word.raw[match.end() :], script.values), word.at)
    if raw.raw.startswith("("):
        _set_array(script, match, raw, perhaps=perhaps)
    elif perhaps or match[2]:
        script.parts.forget(match[1])
    else:
        script.parts.note(match[1], raw.raw, script.unsteady)
        return expanded(raw, script.values, is_value=is_bare) if raw.raw else ""
    return None


def _set_array(script: Script, match: re.Match[str], raw: Token, *, perhaps: bool) -> None:
    """Follow an array: its elements are words of a command as the script writes them."""
    elements = None if perhaps else elements_of(raw)
    if elements is None:
        script.parts.forget(match[1])
    else:
        script.parts.note_array(match[1], elements, script.unsteady, adds=bool(match[2]))


def assign_element(script: Script, statement: Statement) -> None:
    """Take an assignment of one element, after which the array is known to the shell alone.

    Raises:
        RefusedError: the command does more.
    """
    match = ELEMENT.match(statement.words[0].raw)
    if match is None or len(statement.words) > 1:
        raise statement.refused(FOLLOWED)
    line = Line(statement.raw, statement.at, "", frozenset({match[1]}))
    _need_followed(match[1], line)
    _need_writable(script, match[1], line)
    _need_one_kind(script, match[1], line, is_array=True)
    script.parts.forget(match[1])
    script.lines.append(line)


def _need_one_kind(script: Script, name: str, line: Line, *, is_array: bool) -> None:
    if script.arrays.setdefault(name, is_array) != is_array:
        reason = "the variable is an array in one place, and none in another"
        raise line.refused(reason)


def _put_env(script: Script, name: str, value: str, at: Pointer) -> None:
    if value:
        script.env[name] = (value, at)
    else:
        script.remarks.dropped(at, f"variable {name}", "it is empty, and admission refuses that")


def _export_later(script: Script, name: str, line: Line) -> None:
    """Export a variable that was assigned before, or will be."""
    script.exported.add(name)
    if script.launch or script.is_seen(name):
        script.lines.append(line)
    elif name in script.known and not name.startswith("SLURM_"):
        _put_env(script, name, script.known[name], line.at)
    if name not in script.known:
        _export_before(script, name)


def _export_before(script: Script, name: str) -> None:
    for index, before in enumerate(script.before):
        if name in before.sets - before.exported:
            exported = before.exported | {name}
            script.before[index] = replace(before, text=_exporting(name, before), exported=exported)


def _exporting(name: str, line: Line) -> str:
    """Return a command that assigns a variable, and exports it: also behind ``false ||``."""
    first = ASSIGNMENT.match(line.text)
    is_alone = first is not None and first[1] == name and line.sets == {name}
    # `export A={1,2}` would assign twice, and `A={1,2}` does not.
    if is_alone and not _BRACE.search(line.text):
        return f"export {line.text}"
    return f"{line.text}\nexport {name}"


def export(script: Script, statement: Statement, *, perhaps: bool = False) -> None:
    """Take a command that assigns or exports variables.

    Raises:
        RefusedError: it does more, such as arithmetic.
    """
    command, (letters, names) = statement.words[0].raw, _options(statement)
    exports = command == "export" or "x" in letters
    words = [word for word in names if exports or ASSIGNMENT.match(word.raw)]
    _need_values_of_before(statement, words)
    assign(script, words, exports=exports, prefix=f"{command} ", perhaps=perhaps)
    # Bash takes options after the names too.
    if command == "readonly" or any(re.match("-.*r", word.raw) for word in statement.words[1:]):
        script.fixed |= set(map(_variable, names))


def _options(statement: Statement) -> tuple[str, list[Token]]:
    """Return the options of a command as one text, and the words after them."""
    letters, names = "", [*statement.words[1:]]
    while names and names[0].raw.startswith("-"):
        option = names.pop(0).raw
        if not _OPTIONS.fullmatch(option):
            raise statement.refused(FOLLOWED)
        letters += option
    return letters, names


def _variable(word: Token) -> str:
    """Return the variable that a word assigns or names."""
    return re.split(r"\+?=", word.raw)[0]


def _need_values_of_before(statement: Statement, words: Sequence[Token]) -> None:
    """Refuse `export A=1 B=$A`: bash expands all its words before it assigns one of them."""
    taken: set[str] = set()
    for word in words:
        if taken & set(re.findall(r"\w+", word.raw.partition("=")[2])):
            raise statement.refused("a value names a variable that the same command assigns")
        taken.add(_variable(word))
