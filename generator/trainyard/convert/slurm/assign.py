"""Follow the variables of a batch script, up to the launch."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from trainyard.convert.slurm.expand import expanded
from trainyard.convert.slurm.getopt import UnreadableError
from trainyard.convert.slurm.script import Line, Script
from trainyard.convert.slurm.shell import WRAP_WHOLE, Statement, Token
from trainyard.convert.slurm.variables import reason_to_drop
from trainyard.diagnostics import Pointer

ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\+?)=")
EXPORTS = frozenset({"declare", "export", "readonly", "typeset"})
_OPTIONS = re.compile(r"-[gprx]*")
_FOLLOWED = "its variables can't be followed"


def leading(found: Sequence[Token]) -> int:
    """Return how many assignments a command begins with."""
    return next((i for i, word in enumerate(found) if not ASSIGNMENT.match(word.raw)), len(found))


def unsteady(chains: Iterable[Sequence[Statement]]) -> frozenset[str]:
    """Return variables with several values, or with one that depends on another command."""
    times: Counter[str] = Counter()
    for chain in chains:
        for index, each in enumerate(chain):
            for name, adds in _assigned(each):
                times[name] += 2 if index or adds else 1
    return frozenset(name for name, number in times.items() if number > 1)


def _assigned(each: Statement) -> Iterator[tuple[str, bool]]:
    """Yield each variable that a command assigns, and whether its old value counts."""
    assigned = leading(each.words)
    own = [] if assigned else [each.words[0].raw]
    found = each.words[1:] if own and own[0] in {*EXPORTS, "unset"} else each.words[:assigned]
    for word in found:
        if match := ASSIGNMENT.match(word.raw):
            yield match[1], bool(match[2])
        elif own == ["unset"]:
            yield word.raw, True


def assign(
    script: Script,
    found: Sequence[Token],
    *,
    exports: bool,
    prefix: str = "",
    perhaps: bool = False,
) -> None:
    """Take assignments: those with a value that is known, and the others as commands.

    Args:
        script: which has read the commands before.
        found: words, each an assignment or the name of a variable.
        exports: whether the ranks have the variables.
        prefix: command that assigns them.
        perhaps: whether another command decides if they take place.

    Raises:
        UnreadableError: it changes how the shell reads the script.
    """
    for word in found:
        match = ASSIGNMENT.match(word.raw)
        name = match[1] if match else word.raw
        if name in {"IFS", "BASH_ENV"} or not name.isidentifier():
            raise UnreadableError(word.at, f"`{prefix}{word.raw}`", _FOLLOWED, WRAP_WHOLE)
        own = exports or name in script.exported
        text = f"{prefix or ('export ' if own else '')}{word.raw}"
        if not match:
            _export_later(script, name, word.at)
        elif not (own and _is_dropped(script, word)):
            line = Line(text, word.at, "", frozenset({name}), own)
            _set(script, match, line, word, perhaps=perhaps)


def _is_dropped(script: Script, word: Token) -> bool:
    name, _, value = word.text.partition("=")
    if reason := reason_to_drop(name.rstrip("+"), value):
        script.remarks.dropped(word.at, f"variable {name}", reason)
    return bool(reason)


def _set(script: Script, match: re.Match[str], line: Line, word: Token, *, perhaps: bool) -> None:
    """Take one assignment; after the launch it is a command like others."""
    name, raw = match[1], word.raw[match.end() :]
    if script.launch:
        script.after.append(line)
        return
    value = None
    if perhaps or match[2]:
        script.parts.forget(name)
    else:
        value = _value(script, Token(raw, word.at))
        script.parts.note(name, raw, script.unsteady)
    if value is None or not line.exports or script.is_seen(name):
        script.before.append(line)
    else:
        _put_env(script, name, value, word.at)
    script.known.pop(name, None)
    if value is not None:
        script.known[name] = value


def _value(script: Script, raw: Token) -> str | None:
    """Return the value that an assignment gives, if it is known before the script runs."""
    if not raw.raw:
        return ""
    return None if raw.raw[0] == "(" else expanded(raw, script.values, is_value=True)


def _put_env(script: Script, name: str, value: str, at: Pointer) -> None:
    if value:
        script.env[name] = (value, at)
    else:
        script.remarks.dropped(at, f"variable {name}", "it is empty, and admission refuses that")


def _export_later(script: Script, name: str, at: Pointer) -> None:
    """Export a variable that was assigned before, or will be."""
    script.exported.add(name)
    if script.launch or script.is_seen(name):
        script.lines.append(Line(f"export {name}", at, "", frozenset({name}), exports=True))
    elif name in script.known and not name.startswith("SLURM_"):
        _put_env(script, name, script.known[name], at)
    for index, line in enumerate(script.before):
        if name in line.sets and name not in script.known:
            script.before[index] = replace(line, text=f"export {line.text}", exports=True)


def export(script: Script, each: Statement, *, perhaps: bool = False) -> None:
    """Take a command that assigns or exports variables.

    Raises:
        UnreadableError: it does more, such as arithmetic.
    """
    command, rest = each.words[0].raw, list(each.words[1:])
    options = []
    while rest and rest[0].raw.startswith("-"):
        options.append(rest.pop(0))
    for option in options:
        if not _OPTIONS.fullmatch(option.raw):
            raise UnreadableError(option.at, f"`{each.raw}`", _FOLLOWED, WRAP_WHOLE)
    exports = command == "export" or any("x" in option.raw for option in options)
    if command == "export" or rest:
        words = [word for word in rest if exports or ASSIGNMENT.match(word.raw)]
        assign(script, words, exports=exports, prefix=f"{command} ", perhaps=perhaps)


def unset(script: Script, each: Statement) -> None:
    """Take away variables; what the script does not set is noted."""
    names = [word.raw for word in each.words[1:] if word.raw != "-v"]
    if not all(name.isidentifier() for name in names):
        raise UnreadableError(each.at, f"`{each.raw}`", _FOLLOWED, WRAP_WHOLE)
    for name in names:
        if not any(name in line.sets for line in script.before):
            reason = reason_to_drop(name, "") or "the script does not set it"
            script.remarks.dropped(each.at, f"`unset {name}`", reason)
        else:
            script.lines.append(Line(f"unset {name}", each.at, "", frozenset({name})))
        if not script.launch:
            _forget(script, name)


def _forget(script: Script, name: str) -> None:
    script.known.pop(name, None)
    script.exported.discard(name)
    script.parts.forget(name)
    script.before[:] = [
        replace(line, exports=False) if name in line.sets else line for line in script.before
    ]
