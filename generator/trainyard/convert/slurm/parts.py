"""Follow variables that hold a part of a command, such as ``CMD="$LAUNCHER train.py"``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from trainyard.convert.slurm.shell import Token

_PLAIN = re.compile(r"""(?:"([^"'\\`*?\[\]{}]*)"|([^\s"'\\`*?\[\]{}()]*))""")
_ALONE = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})")
_DEEPEST = 8
"""Variables in one another that are followed."""


@dataclass(slots=True)
class Parts:
    """Variables without quotes in their values, so that a shell would split them at blanks.

    Args:
        values: as the script writes them, with the variables in them.
        used: names of those that were replaced.
    """

    values: dict[str, str] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def note(self, name: str, raw: str) -> None:
        """Take an assignment; one that can't be followed ends what was known."""
        found = _PLAIN.fullmatch(raw.replace("${", "$<"))
        self.values.pop(name, None)
        if found and "$(" not in raw:
            self.values[name] = (found[1] or found[2] or "").replace("$<", "${")

    def words(self, tokens: Iterable[Token], depth: int = _DEEPEST) -> Iterator[Token]:
        """Yield words, in place of one that is only a variable the words of its value."""
        for token in tokens:
            found = _ALONE.fullmatch(token.raw)
            name = (found[1] or found[2]) if found else ""
            if depth and " " in self.values.get(name, ""):
                self.used.add(name)
                inner = (Token(each, token.at) for each in self.values[name].split())
                yield from self.words(inner, depth - 1)
            else:
                yield token

    def text(self, script: str, depth: int = _DEEPEST) -> str:
        """Return a script with the values of variables in it that have several words."""

        def value(found: re.Match[str]) -> str:
            name = found[1] or found[2]
            if " " not in self.values.get(name, ""):
                return found[0]
            self.used.add(name)
            return self.text(self.values[name], depth - 1)

        return _ALONE.sub(value, script) if depth else script
