"""Compare two releases: versions, features, kinds, fields, and steps that are known to fail."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.model.release import Release
from trainyard.model.version import numbers
from trainyard.schema.manifests import effective
from trainyard.schema.releases import target

_INSIDE = frozenset({"properties", "items", "additionalProperties", "definitions", "required"})
"""Keywords of a field that are about those below it."""


@dataclass(frozen=True, slots=True)
class Change:
    """A value that differs; None where there is none."""

    name: str
    before: str | None
    after: str | None

    @property
    def display(self) -> str:
        """Both values in words, e.g. ``kueue 0.16 -> 0.19``."""
        return f"{self.name} {self.before or 'none'} -> {self.after or 'none'}"


@dataclass(frozen=True, slots=True)
class KindChange:
    """Fields of a kind that differ, as paths; of a new or lost field those below are left out.

    Args:
        name: with its group, e.g. ``TrainJob in trainer.kubeflow.org/v1alpha1``.
        changed: fields whose limits or types differ.
    """

    name: str
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """Versions that are known to fail."""

    versions: Mapping[str, str]
    consequence: str


@dataclass(frozen=True, slots=True)
class Step:
    """Only one component goes to its new version, and what fails then."""

    component: str
    version: str
    faults: tuple[Fault, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs between two releases.

    Args:
        versions: of components.
        features: gained have no value before, lost none after.
        fields: of the releases.
        new_kinds, lost_kinds: of which only one has a schema.
        kinds: with other fields.
        steps: components that can't be upgraded alone.
        changes: component and version -> what it changed.
    """

    versions: tuple[Change, ...]
    features: tuple[Change, ...]
    fields: tuple[Change, ...]
    new_kinds: tuple[str, ...]
    lost_kinds: tuple[str, ...]
    kinds: tuple[KindChange, ...]
    steps: tuple[Step, ...]
    changes: Mapping[str, str]


def compare(before: Release, after: Release) -> Comparison:
    """Return what differs between two releases.

    Raises:
        ToolError: a schema is missing or was changed.
    """
    old, new = schemas_by_kind(before), schemas_by_kind(after)
    both = sorted(old.keys() & new.keys())
    kinds = (_fields(name, old[name], new[name]) for name in both if old[name] != new[name])
    return Comparison(
        versions=tuple(_differing(before.versions, after.versions)),
        features=tuple(
            _differing(dict.fromkeys(before.features, "yes"), dict.fromkeys(after.features, "yes"))
        ),
        fields=tuple(_differing(_values(before), _values(after))),
        new_kinds=tuple(sorted(new.keys() - old.keys())),
        lost_kinds=tuple(sorted(old.keys() - new.keys())),
        kinds=tuple(kinds),
        steps=tuple(_steps(before, after)),
        changes=dict(_changes(before, after)),
    )


def schemas_by_kind(release: Release) -> dict[str, Any]:
    """Return the schemas of a release by kind, e.g. ``TrainJob in trainer.kubeflow.org/v1alpha1``.

    Raises:
        ToolError: a schema is missing or was changed.
    """
    documents = map(json.loads, effective(release.schemas).values())
    return {_name(document["properties"]): document for document in documents}


def _name(properties: Mapping[str, Any]) -> str:
    return f"{properties['kind']['const']} in {properties['apiVersion']['const']}"


def faults_of(release: Release, versions: Mapping[str, str]) -> tuple[Fault, ...]:
    """Return what fails with some versions, as a release with its features knows it."""
    return tuple(
        Fault({name: versions[name] for name in sorted(bad.components)}, bad.consequence)
        for bad in release.known_bad
        if bad.applies(versions)
    )


def _differing(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Change]:
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            yield Change(name, before.get(name), after.get(name))


def _values(release: Release) -> dict[str, str]:
    """Return the other values of a release that follow from versions."""
    return {
        "flavors of a queue": str(release.most_flavors),
        "launcher and nodes as one group": "yes" if release.groups_podsets else "no",
        "resources of a queue": str(release.most_resources),
        "SDK": release.sdk,
        "tested": release.tested,
    }


def _fields(name: str, before: Any, after: Any) -> KindChange:
    """Return the fields of a kind that differ."""
    found: dict[str, list[str]] = {"gained": [], "lost": [], "changed": []}
    for what, path in _walk("", before, after, (before, after)):
        found[what].append(path)
    gained, lost, changed = (tuple(sorted(found[what])) for what in ("gained", "lost", "changed"))
    return KindChange(name, gained, lost, changed)


def _walk(path: str, before: Any, after: Any, roots: tuple[Any, Any]) -> Iterator[tuple[str, str]]:
    """Yield what differs at and below a field: how, and its path."""
    old, new = (
        target(node, root.get("definitions", {}))
        for node, root in zip((before, after), roots, strict=True)
    )
    if path and _own(old) != _own(new):
        yield "changed", path
    mine, theirs = _inside(path, old), _inside(path, new)
    for place in sorted(mine.keys() | theirs.keys()):
        if place in mine and place in theirs:
            yield from _walk(place, mine[place], theirs[place], roots)
        else:
            yield "lost" if place in mine else "gained", place


def _inside(path: str, node: Mapping[str, Any]) -> dict[str, Any]:
    """Return the nodes one step inside by their paths."""
    fields = node.get("properties", {})
    inside = {f"{path}.{name}".removeprefix("."): child for name, child in fields.items()}
    for key, mark in (("items", "[]"), ("additionalProperties", ".*")):
        if isinstance(node.get(key), dict):
            inside[f"{path}{mark}"] = node[key]
    return inside


def _own(node: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keywords of a field itself."""
    own = {key: value for key, value in node.items() if key not in _INSIDE}
    return {**own, "required": sorted(node.get("required", ()))}


def _steps(before: Release, after: Release) -> Iterator[Step]:
    """Yield the components that can't go to their new versions before the others do."""
    for name, version in sorted(after.versions.items()):
        if name in before.versions and before.versions[name] != version:
            faults = faults_of(before, {**before.versions, name: version})
            if faults:
                yield Step(name, version, faults)


def _changes(before: Release, after: Release) -> Iterator[tuple[str, str]]:
    for name, known in sorted(after.changes.items()):
        if name in before.versions and name in after.versions:
            versions = before.versions[name], after.versions[name]
            for at, what in sorted(
                known.between(*versions).items(), key=lambda each: numbers(each[0])
            ):
                yield f"{name} {at}", what
