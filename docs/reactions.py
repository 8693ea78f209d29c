"""The page of docs/reference/ on what an edit of each kind of object does to what runs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from docs.markdown import cell
from trainyard.change.impact.reaction import ANY, Reaction
from trainyard.change.impact.reactions.table import REACTIONS

_CHANGES = ("created", "changed", "recreated", "deleted", "left behind")


def edits() -> Iterator[str]:
    """Yield the lines of the page: a table for each kind, in the order in which entries count."""
    yield from (
        "# Edits of objects",
        "",
        "What a merged edit of each kind of object does to running jobs and to nodes.",
        "Of a kind's lines for a changed field, the first that fits counts.",
        "An object that leaves the tree with `Prune=false`, or with its folder, is *left behind*.",
        "Nothing happens to it, and to others only what a line says.",
        "[What a change does](../explanation/what-a-change-does.md) explains the effects.",
    )
    ordered = sorted(REACTIONS, key=lambda each: (each.kind, _CHANGES.index(each.change)))
    for kind, entries in groupby(ordered, key=lambda each: each.kind):
        yield from ("", f"## {kind}", "", "| edit | effect | what happens | source |")
        yield "|---|---|---|---|"
        yield from map(_line, entries)


def _line(entry: Reaction) -> str:
    effect = entry.effect.name.lower() if entry.effect else ""
    return f"| {_edit(entry)} | {effect} | {cell(entry.consequence)} | {_source(entry.source)} |"


def _edit(entry: Reaction) -> str:
    """Return the edit: what happens to the object, or to which of its fields."""
    if entry.change == "recreated":
        return "an immutable field changes"
    if entry.change != "changed":
        return f"{entry.change}, if it {entry.condition}" if entry.condition else entry.change
    field = "any other field" if entry.fields == ANY else f"`{entry.fields}`"
    return f"{field} {entry.condition or 'changes'}"


def _source(source: str) -> str:
    return source if source.startswith("seen with") else f"`{source}`"
