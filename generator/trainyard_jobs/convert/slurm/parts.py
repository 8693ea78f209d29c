"""Follow variables that hold a part of a command, such as ``CMD="$LAUNCHER train.py"``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from trainyard_jobs.convert.slurm.expand import LONGEST, names_in
from trainyard_jobs.convert.slurm.shell import Token, written

_PLAIN = re.compile(r"""(?:"((?:[^"'\\`*?\[\]{}]|\\\$)*)"|([^\s"'\\`*?\[\]{}()]*))""")
_ALONE = re.compile(r"(?<!\\)\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})")
_BRACED = re.compile(r"\$\{([A-Za-z_]\w*)\}")
_ARRAY = re.compile(r"""(?:(")\$\{([A-Za-z_]\w*)\[@\]\}"|\$\{([A-Za-z_]\w*)\[[@*]\]\})""")
"""All elements of an array; in quotes ``*`` would make one word of them."""


@dataclass(slots=True)
class Parts:
    """Variables without quotes in their values, so that a shell would split them at blanks.

    Args:
        values: with those of other variables in them, as they were at the assignment.
        arrays: the elements of each array, as the script writes them.
        used: names of those that were replaced.
        within: names of those that were replaced in each value, and in the elements of arrays.
    """

    values: dict[str, str] = field(default_factory=dict)
    arrays: dict[str, list[Token]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    within: dict[str, set[str]] = field(default_factory=dict)

    def note(self, name: str, raw: str, unsteady: AbstractSet[str]) -> None:
        """Take an assignment; one that can't be followed ends what was known.

        Args:
            name: of the variable.
            raw: its value as the script writes it.
            unsteady: variables whose value may be another one when this is read.
        """
        own = self.values.pop(name, "")
        before = self.within.pop(name, set())
        self.within[name] = before if own and name in names_in(raw) else set()
        text = _ALONE.sub(lambda part: self._value(part, name, own), _plain(raw))
        left = {match[1] or match[2] for match in _ALONE.finditer(text)}
        if len(text) <= LONGEST and not left & {name, *unsteady}:
            self.values[name] = text

    def _value(self, match: re.Match[str], name: str, own: str) -> str:
        read = match[1] or match[2]
        value = own if read == name else self.values.get(read, "")
        if value and read != name:
            self.within[name] |= {read, *self.within.get(read, ())}
        return value or match[0]

    def note_array(
        self, name: str, elements: Iterable[Token], unsteady: AbstractSet[str], *, adds: bool
    ) -> None:
        """Take an assignment of an array, or one that adds to it.

        Args:
            name: of the variable.
            elements: as the script writes them.
            unsteady: variables whose value may be another one when this is read.
            adds: whether the array keeps the elements that it has.
        """
        inner = Parts(self.values, self.arrays, within=self.within)
        words = [*inner.words(elements)]
        before = self.arrays.pop(name, None)
        if adds and before is None:
            return
        own = [*(before or ()), *words] if adds else words
        text = written(own)
        if len(text) <= LONGEST and {name, *unsteady}.isdisjoint(names_in(text)):
            self.arrays[name] = own
            self.within[name] = inner.used | self.within.get(name, set())

    def forget(self, name: str) -> None:
        """Take an assignment whose value, or whether it takes place, is not known."""
        self.values.pop(name, None)
        self.arrays.pop(name, None)

    def words(self, tokens: Iterable[Token]) -> Iterator[Token]:
        """Yield words, in place of one that is only a variable the words of its value."""
        for token in tokens:
            if found := self._split(token) or [each.raw for each in self._elements(token)]:
                for word in found:
                    yield Token(word, token.at)
            else:
                yield token

    def _split(self, token: Token) -> list[str]:
        """Return the words that a shell makes of a word; none where it is not such a variable."""
        match = _ALONE.fullmatch(token.raw)
        name = (match[1] or match[2]) if match else ""
        value = self._several(name)
        if not value or "\\" in value:
            return []
        self.used |= {name, *self.within.get(name, ())}
        return value.split()

    def _several(self, name: str) -> str:
        """Return a value of several words; empty where one would begin a comment in a script."""
        value = self.values.get(name, "")
        return value if " " in value and not re.search(r"\s#", value) else ""

    def _elements(self, token: Token) -> list[Token]:
        """Return the elements that a word stands for; none where the shell splits them again."""
        match = _ARRAY.fullmatch(token.raw)
        name = (match[2] or match[3]) if match else ""
        elements = self.arrays.get(name, [])
        if not (match and (match[1] or all(map(_is_plain, elements)))):
            return []
        self.used |= {name, *self.within.get(name, ())}
        return elements

    def text(self, script: str) -> str:
        """Return a script with the values of variables in it that have several words."""

        def value(match: re.Match[str]) -> str:
            name = match[1] or match[2]
            text = self._several(name)
            if not text:
                return match[0]
            self.used |= {name, *self.within.get(name, ())}
            return text.replace("\\$", "$")

        return _ALONE.sub(value, script)


def _is_plain(element: Token) -> bool:
    """Return whether an element is the same word where no quotes are around the array."""
    return not (element.is_quoted or element.spreads or "\\" in element.raw)


def _plain(raw: str) -> str:
    """Return a value without its quotes; empty for one that a shell would not split at blanks."""
    bare = _BRACED.sub(r"$\1<>", raw) if "$(" not in raw else "'"
    match = _PLAIN.fullmatch(bare.replace("\\\n", " "))
    return re.sub(r"\$(\w+)<>", r"${\1}", match[1] or match[2] or "") if match else ""
