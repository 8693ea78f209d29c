"""The page of docs/reference/ on names that controllers derive, and what keeps them from ours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from trainyard.model.derived import DerivedName, Taken
from trainyard.profiles.read import plurals, releases
from trainyard.resolve.release import resolve_release

TREE_KINDS = frozenset(
    {"ConfigMap", "NetworkPolicy", "PersistentVolumeClaim", "Secret", "ServiceAccount"}
)
"""Kinds in the table of which the tree has objects in the teams' namespaces."""

_TAKEN: Mapping[Taken, str] = {
    "kept": "stays, and the controller fails",
    "replaced": "is replaced",
    "used": "is used as it is",
}


def names() -> Iterator[str]:
    """Yield the lines of the page: a table for releases that have the same names."""
    yield from (
        "# Names of controllers",
        "",
        "Controllers make objects in the namespaces of teams, and derive their names from others.",
        "`*` stands for the name of what an object is made from; users choose the names of jobs.",
        "The table says what becomes of an object that has the name already.",
        "It also says what keeps the name from objects of the tree.",
        "[Isolation](../explanation/isolation.md#names) explains how.",
    )
    sources = plurals()
    alike: dict[tuple[DerivedName, ...], list[str]] = {}
    for name, source in sorted(releases().items()):
        release = resolve_release(name, source, sources[name])
        alike.setdefault(release.derived_names, []).append(name)
    for derived_names, together in alike.items():
        yield from _table(together, derived_names)


def _table(releases_alike: Iterable[str], derived_names: Iterable[DerivedName]) -> Iterator[str]:
    yield from ("", f"## {', '.join(releases_alike)}", "")
    yield "| controller | from | makes | named | what has the name | kept from ours by | source |"
    yield "|---|---|---|---|---|---|---|"
    for keys, rows in groupby(derived_names, key=_same):
        by, of, kind, taken, source, kept = keys
        named = ", ".join(f"`{each.name}`" for each in rows)
        yield f"| {by} | {of} | {kind} | {named} | {_TAKEN[taken]} | {kept} | `{source}` |"


def _same(each: DerivedName) -> tuple[str, str, str, Taken, str, str]:
    """Return what the rows of one line have in common."""
    return each.by, each.of, each.kind, each.taken, each.source, keeper(each)


def keeper(each: DerivedName) -> str:
    """Return what keeps a derived name from the names of the tree."""
    if each.kind not in TREE_KINDS:
        return "the tree has no such object there"
    if each.kind == "ServiceAccount":
        return "`access/shadowed-account`, and the owner that the team's profile states"
    if each.kind == "NetworkPolicy" and not each.name.startswith("*"):
        return "ours have other names"
    return ", ".join(f"`{name}`" for name in _named_keepers(each))


def _named_keepers(each: DerivedName) -> Iterator[str]:
    """Yield the policies and rules that refuse the name, to tenants or to profiles."""
    if each.is_of_a_job and (each.kind != "Secret" or each.taken == "kept"):
        built_from = each.kind == "ConfigMap" and each.taken == "replaced"
        yield "trainyard-sources" if built_from else "trainyard-tenant-objects"
    if each.is_bare:
        yield "trainyard-network-policies"
    elif each.taken != "kept":
        yield "delivery/name-of-a-controller"
