"""Hypothesis strategies for hostile profiles: damaged bytes of committed files, and edits."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import strategies as st

from tests.fuzz.corpus import KEYS, SEEDS, VALUES, Seed, places
from trainyard.yaml_io.source import Plain

_YAML = (
    "\n",
    "  ",
    "- ",
    ": ",
    "? ",
    "&a ",
    "<<: *a",
    "!t ",
    "|\n",
    ">-\n",
    "---\n",
    *"[]{},#*'\"\\",
)
_SCALARS = (
    "a" * 5000,
    "null",
    "~",
    "no",
    "012",
    "1e3",
    "0x10",
    "2027-02-30",
    "-1",
    "999999999999",
    "64",
)
_UNICODE = (
    "\u0430",
    "\u202e",
    "\u00a0",
    "\ufeff",
    "e\u0301",
    "\U0001f600",
    "\x00",
    "\t",
    "\r\n",
    "\r",
    "\x1b[31m",
)
_PIECES = st.sampled_from(
    [*(piece.encode() for piece in (*_YAML, *_SCALARS, *_UNICODE)), b"\xff", b"\xed\xa0\x80"]
)

_WORDS = (
    "a con no \u0430 0 64 64Gi 0Gi 9999999Ti 0x0000 0xffff 0xffff-0x0000 2027-02-30 "
    "0000-00-00 a/b ../.. $(x)"
)
_RANGES = "10.0.0.0/33 999.0.0.0/8 0.0.0.0/0 9.9.9.9/31"
_NEAR = st.sampled_from(["", " ", "a\nb", "a" * 64, *_WORDS.split(), *_RANGES.split()])
_NUMBERS = st.sampled_from([-1, 0, 1, 2, 3, 7, 8, 64, 5000, 10**12 - 1]) | st.integers(-10, 300)
_SIMPLE = st.none() | st.booleans() | _NUMBERS | _NEAR | st.text(max_size=8)
_PLAIN = st.recursive(
    _SIMPLE, lambda each: st.lists(each, max_size=3) | st.dictionaries(st.sampled_from(KEYS), each)
)

seeds = st.sampled_from(SEEDS)
documents = st.sampled_from([seed for seed in SEEDS if seed.body])


@st.composite
def damaged(draw: st.DrawFn, seed: Seed) -> bytes:
    """Return a file with up to five pieces removed, repeated, or replaced by other ones."""
    content = seed.content
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(content)))
        stop = draw(st.integers(start, min(start + 60, len(content))))
        other = draw(seeds).content
        source = draw(st.integers(0, len(other)))
        pieces = [
            st.just(b""),
            _PIECES,
            st.just(content[start:stop] * 2),
            st.just(other[source : source + 60]),
        ]
        content = content[:start] + draw(st.one_of(*pieces)) + content[stop:]
    return content


@st.composite
def edited(draw: st.DrawFn, seed: Seed) -> bytes:
    """Return a document, as JSON, with up to four values changed, added, removed or repeated."""
    body = copy.deepcopy(seed.body)
    for _ in range(draw(st.integers(1, 4))):
        _edit(draw, body)
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _edit(draw: st.DrawFn, body: Plain) -> None:
    known = list(places(body))
    nowhere: tuple[Plain, Any] = (body, "")
    container, step = draw(st.sampled_from(known)) if known else nowhere
    action = draw(st.sampled_from(["borrow", "replace", "remove", "add", "repeat", "rename"]))
    if action == "add" or not known:
        target = container if isinstance(container, dict) else body
        key = draw(st.sampled_from(KEYS))
        target[key] = draw(_value(key))
    else:
        _change(draw, action, container, step)


def _change(draw: st.DrawFn, action: str, container: Plain, step: Any) -> None:
    """Remove, repeat, rename or replace a value of a container."""
    if action == "remove":
        del container[step]
    elif action == "repeat" and isinstance(container, list):
        container.extend([container[step]] * draw(st.sampled_from([1, 2, 600])))
    elif action == "rename" and isinstance(container, dict):
        container[draw(st.sampled_from(KEYS) | _NEAR)] = container.pop(step)
    else:
        container[step] = draw(_PLAIN if action == "replace" else _value(str(step)))


def _value(key: str) -> st.SearchStrategy[Plain]:
    """Return a strategy for a known value of a key, or any value if none is known."""
    return st.sampled_from(VALUES[key]).map(copy.deepcopy) if VALUES.get(key) else _PLAIN
