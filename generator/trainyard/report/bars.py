"""A pool as a bar: what each team owns and lends, what nobody has, the reserve, maintenance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from htpy import Element, figcaption, figure, span

from trainyard.capacity.figures import PoolCapacity
from trainyard.model.quantity import format_nodes

_HEIGHT = 44
_WIDTH, _LETTER, _PADDING = 1100, 8, 8  # pixels
_TONES = 4  # that alternate, so that neighbours differ
_svg, _rect, _text, _title = (Element(name) for name in ("svg", "rect", "text", "title"))


@dataclass(frozen=True, slots=True)
class _Segment:
    """A part of the bar, in nodes."""

    name: str
    kind: str
    nodes: Fraction
    lent: Fraction = Fraction(0)


def bar(pool: PoolCapacity) -> Element:
    """Return the figure of a pool; it is as wide as what there is, or as what teams own."""
    segments = [segment for segment in _segments(pool) if segment.nodes]
    whole = sum((segment.nodes for segment in segments), Fraction(0))
    start = Fraction(0)
    words, drawn = [], []
    for segment in segments:
        words.append(f"{segment.name} {_size(pool, segment.nodes)}")
        drawn.append(_draw(pool, segment, start, whole))
        start += segment.nodes
    return figure(".bar")[
        _svg(
            role="img",
            aria_label=f"Pool {pool.name}: {', '.join(words) or 'empty'}",
            width="100%",
            height=str(_HEIGHT),
        )[drawn],
        figcaption(".legend", aria_hidden="true")[
            (span(class_=kind)[name] for kind, name in _legend(segments))
        ],
    ]


def _segments(pool: PoolCapacity) -> Iterator[_Segment]:
    parts = sorted(pool.parts, key=lambda part: (-part.own, part.team))
    for i, part in enumerate(parts):
        yield _Segment(part.team, f"team t{i % _TONES}", part.own, part.lend)
    room = pool.head_room
    if room > 0:
        yield _Segment("head-room", "free", room)
    reserve = Fraction(pool.nodes - pool.out_of_use - pool.promised)
    yield _Segment("reserve", "reserve", max(reserve + min(room, Fraction(0)), Fraction(0)))
    yield _Segment("maintenance", "out", Fraction(pool.out_of_use))


def _legend(segments: list[_Segment]) -> Iterator[tuple[str, str]]:
    kinds = {segment.kind.partition(" ")[0] for segment in segments}
    names = {
        "team": "owned by a team",
        "free": "head-room",
        "reserve": "reserve",
        "out": "in maintenance",
    }
    for kind, name in names.items():
        if kind in kinds:
            yield kind, name
    if any(segment.lent for segment in segments):
        yield "lent", "lent"


def _size(pool: PoolCapacity, nodes: Fraction) -> str:
    return format_nodes(nodes, pool.per_node, pool.unit.noun)


def _draw(pool: PoolCapacity, segment: _Segment, start: Fraction, whole: Fraction) -> Element:
    """Return a nested picture, which cuts a name that is longer than its segment."""
    lent = segment.lent / segment.nodes
    size = _size(pool, segment.nodes)
    lines = _that_fit((segment.name, f"{round(float(segment.nodes), 2):g}"), segment.nodes / whole)
    lends = f", lends {_size(pool, segment.lent)}" if lent else ""
    return _svg(x=_percent(start / whole), width=_percent(segment.nodes / whole))[
        _title[f"{segment.name}: {size}{lends}"],
        _rect(class_=segment.kind, width="100%", height=str(_HEIGHT - 8)),
        _rect(".lent", y=str(_HEIGHT - 6), width=_percent(lent), height="5") if lent else None,
        [_text(x="6", y=str(16 + 15 * i))[words] for i, words in enumerate(lines)],
    ]


def _that_fit(lines: Sequence[str], part: Fraction) -> list[str]:
    """Return the lines of a label that a part of a wide page has room for."""
    room = part * _WIDTH - _PADDING
    return [line for line in lines if len(line) * _LETTER <= room]


def _percent(part: Fraction) -> str:
    return f"{float(part * 100):.4g}%"
