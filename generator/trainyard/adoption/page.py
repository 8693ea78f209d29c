"""The page of an import for reviewers: the tables, the choices and the remarks, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from trainyard.adoption.model import Adoption, Mark, Row
from trainyard.adoption.wording import quoted
from trainyard.model.quantity import counted

_HEAD = ("team", "pool", "resource", "was", "becomes", "difference", "why")
_NEXT_START = (
    "None of them stops at the first sync. Only a TrainJob in a team's queue is their counterpart",
    (
        "outside of teams, `adopt.pods: audit`, as drafted, records the next start of a pod; "
        "`warn` warns its maker too; without `pods` it is refused"
    ),
    (
        "in a team, `stage: observe`, as drafted, records the next start of a pod; from `warn` on "
        "it is refused"
    ),
)
_TITLES = {
    Mark.KEPT: "Kept",
    Mark.CHANGED: "Changed",
    Mark.OUTSIDE: "With GPUs outside of Kueue",
    Mark.REFUSED: "Without a counterpart",
}


def page(adoption: Adoption) -> bytes:
    """Return the page of an import."""
    return "\n".join([*_lines(adoption), ""]).encode()


def _lines(adoption: Adoption) -> Iterator[str]:
    yield f"# Import of cluster {adoption.cluster}"
    yield ""
    yield "What the dump had, and what the drafts of `trainyard import` make of it."
    yield "Amounts are nominal / borrowing limit / lending limit; `all` is no limit."
    choices = (f"`{each.file}:{each.line}`: {_cell(each.text)}" for each in adoption.choices)
    yield from _section("Open choices", [*choices] or ["None."])
    yield from _heading("Was and becomes")
    yield from _table(adoption.rows)
    yield from _section("Pools", map(_cell, adoption.sums))
    for mark, title in _TITLES.items():
        yield from _section(title, _remarks(adoption, mark))
    yield from _section("What this page does not list", _elsewhere(adoption.cluster))
    kinds = counted(len(adoption.absent), "kind")
    yield from _section(f"{kinds} not in the dump", adoption.absent)


def _remarks(adoption: Adoption, mark: Mark) -> list[str]:
    found = [each for each in adoption.remarks if each.mark is mark]
    lead = _NEXT_START if found and mark is Mark.OUTSIDE else ()
    return [*lead, *(f"{_cell(each.part)}: {_cell(each.text)}" for each in found)]


def _elsewhere(cluster: str) -> Iterator[str]:
    """Yield the commands that list more, as soon as there is a tree to compare with."""
    yield (
        f"After `trainyard generate`, `trainyard drift {cluster} --from DUMP` lists what the "
        "teams' namespaces have beside the tree, and the groups that gain or lose a role."
    )
    yield (
        f"`trainyard fit --replay DUMP --cluster {cluster}` lists workloads that would be refused "
        "at their next start, also outside of teams."
    )


def _section(title: str, items: Iterable[str]) -> Iterator[str]:
    """Yield a section with a list; nothing without an item."""
    listed = [f"- {item}" for item in items]
    if listed:
        yield from (*_heading(title), *listed)


def _heading(title: str) -> tuple[str, ...]:
    return "", f"## {title}", ""


def _table(rows: Sequence[Row]) -> Iterator[str]:
    yield f"| {' | '.join(_HEAD)} |"
    yield f"|{' --- |' * len(_HEAD)}"
    for row in rows:
        cells = (row.team, row.pool, row.resource, row.was, row.becomes, row.difference, row.why)
        yield f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    """Return text that is not markup: names are of anybody."""
    plain = quoted(text)
    for sign in "\\|<>[]*":
        plain = plain.replace(sign, f"\\{sign}")
    return plain
