"""Profiles as people lay them out: any indentation, quotes, braces, comments and blank lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hypothesis import strategies as st

TEXT_BLOCK = "text # no"
"""Begins each text block."""

_WORDS = st.sampled_from(
    ["x", "nlp", "'q'", '"#no"', "a b", "1", "true", "1Ti", "'it''s'", '"a\\tb"', "'\"'", '"é"']
)
_BESIDE = st.sampled_from(["", "", "", " # why", "\t#x", "    # a: {b} 'c' \"d\" | é"])
_ABOVE = st.sampled_from(
    ["", "", "", "\n", "\n\n\n", "# margin\n", "{0}# at\n", "{0}  # in\n\n{0}# more\n", "   \n"]
)
_HEAD = st.sampled_from(["", "", "---\n", "\ufeff", "--- # head\n", "# top\n\n"])


@dataclass(frozen=True)
class _Layout:
    """One person's layout.

    Args:
        step: spaces of a level.
    """

    draw: st.DrawFn
    step: int

    def above(self, indent: str) -> str:
        return self.draw(_ABOVE).format(indent)

    def braces(self, depth: int) -> str:
        """Return a value on one line: a word, a list in brackets or a mapping in braces."""
        kind = self.draw(st.integers(0, 2 if depth else 0))
        if not kind:
            return self.draw(_WORDS)
        gap = self.draw(st.sampled_from(["", " ", "  "]))
        items = [self.braces(depth - 1) for _ in range(self.draw(st.integers(0, 4)))]
        if kind == 1:
            return f"[{gap}{','.join(gap + item for item in items)}{gap}]"
        pairs = ",".join(f"{gap}k{number}: {item}" for number, item in enumerate(items))
        return f"{{{pairs}{gap}}}"

    def mapping(self, indent: str, depth: int) -> Iterator[str]:
        for number in range(self.draw(st.integers(1, 3))):
            yield f"{self.above(indent)}{indent}key{number}:"
            yield from self._value(indent, depth)

    def _value(self, indent: str, depth: int) -> Iterator[str]:
        kind = self.draw(st.sampled_from("wbltm" if depth else "wbt"))
        inner = indent + " " * self.step
        if kind == "t":
            yield from self._block(inner)
        elif kind in "wb":
            yield f" {self.braces(2 if kind == 'b' else 0)}{self.draw(_BESIDE)}\n"
        else:
            yield f"{self.draw(_BESIDE)}\n"
            items = self.mapping(inner, depth - 1) if kind == "m" else self._list(indent, inner)
            yield from items

    def _list(self, indent: str, inner: str) -> Iterator[str]:
        at = self.draw(st.sampled_from([indent, inner]))
        for _ in range(self.draw(st.integers(1, 3))):
            yield f"{self.above(at)}{at}- {self.braces(1)}{self.draw(_BESIDE)}\n"

    def _block(self, inner: str) -> Iterator[str]:
        sign = self.draw(st.sampled_from(["|", ">", "|-", "|+", ">-"]))
        comment = self.draw(_BESIDE).replace("\t", " ")
        yield f" {sign}{comment}\n{inner}{TEXT_BLOCK}\n\n{inner}  more\n"


@st.composite
def layouts(draw: st.DrawFn) -> str:
    """Return the text of a valid profile."""
    layout = _Layout(draw, draw(st.integers(1, 4)))
    text = "".join([draw(_HEAD), *layout.mapping("", 3), layout.above("")])
    return text.replace("\n", draw(st.sampled_from(["\n", "\n", "\r\n"])))
