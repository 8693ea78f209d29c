"""Compare the runtimes of a cluster, and the teams that may use them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trainyard.impact.images import described
from trainyard.impact.model import RuntimeChange, Sides
from trainyard.model.identity import Identity, team_of
from trainyard.model.lookup import mapping, text
from trainyard.model.manifest import Manifest
from trainyard.model.names import SYSTEM_NAMESPACE

Objects = Mapping[Identity, Manifest]


def runtime_changes(sides: Sides) -> tuple[RuntimeChange, ...]:
    """Return what changes of the runtimes, sorted by runtime; equal changes once."""
    old, new = _runtimes(sides.before), _runtimes(sides.after)
    groups: dict[tuple[str, str, tuple[str, ...]], list[str]] = defaultdict(list)
    for name in sorted({*old, *new}):
        known = new.get(name) or old[name]
        for change, details in _changes(name, old, new):
            groups[known.profile, change, details].append(name)
    teams = {name: _teams(name, old, new) for name in {*old, *new}}
    return tuple(
        RuntimeChange(
            runtime=profile,
            objects=tuple(names),
            change=change,
            details=details,
            teams=tuple(sorted(frozenset().union(*(teams[name] for name in names)))),
        )
        for (profile, change, details), names in sorted(groups.items())
    )


@dataclass(frozen=True, slots=True)
class _Runtime:
    """A ClusterTrainingRuntime.

    Args:
        profile: name of the runtime's profile.
        line: its family and its nodes: the same for each version.
        version: 0 when its name has none.
        end: ``deprecated until DATE``; empty when it is supported.
        teams: that may use it.
    """

    manifest: Manifest
    profile: str
    line: tuple[str, str]
    version: int
    end: str
    teams: frozenset[str]


_Runtimes = Mapping[str, _Runtime]
"""Name of a ClusterTrainingRuntime -> the runtime."""

_FAMILY = "trainer.kubeflow.org/framework"
_PROFILE = "/runtime"
_END = "/deprecated-until"
_VERSIONED = re.compile(r"-v(?P<version>[0-9]+)-(?P<nodes>.+)")


def _runtimes(objects: Objects) -> _Runtimes:
    users: dict[str, set[str]] = defaultdict(set)
    for key, each in objects.items():
        if key.kind == "ConfigMap" and key.namespace == SYSTEM_NAMESPACE:
            for name in text(each.body, "data", "runtimes").split():
                users[name].add(team_of(each))
    return {
        each.name: _runtime(each, frozenset(users[each.name]))
        for key, each in objects.items()
        if key.kind == "ClusterTrainingRuntime"
    }


def _runtime(manifest: Manifest, teams: frozenset[str]) -> _Runtime:
    labels = mapping(manifest.body, "metadata", "labels")
    family = str(labels.get(_FAMILY, ""))
    match = _VERSIONED.fullmatch(manifest.name.removeprefix(family))
    end = _ending(mapping(manifest.body, "metadata", "annotations"), _END)
    return _Runtime(
        manifest,
        profile=_ending(labels, _PROFILE) or manifest.name,
        line=(family, match["nodes"] if match else ""),
        version=int(match["version"]) if match else 0,
        end=f"deprecated until {end}" if end else "",
        teams=teams,
    )


def _ending(values: Mapping[str, str], end: str) -> str:
    """Return the value whose key has an end, whatever the domain before it."""
    return next((str(value) for key, value in values.items() if key.endswith(end)), "")


def _changes(name: str, old: _Runtimes, new: _Runtimes) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each change of one runtime with its details."""
    before, after = old.get(name), new.get(name)
    if before and after:
        yield from _edited(before, after)
    elif after:
        former = _former(after, old)
        details = described(former.manifest, after.manifest) if former else ()
        yield "added", (*details, *([after.end] if after.end else ()))
    else:
        yield "retired", ()


def _edited(before: _Runtime, after: _Runtime) -> Iterator[tuple[str, tuple[str, ...]]]:
    if before.end != after.end:
        yield after.end or "supported again", ()
    details = (
        *described(before.manifest, after.manifest),
        *(f"team {team} may use it" for team in sorted(after.teams - before.teams)),
        *(f"team {team} may no longer use it" for team in sorted(before.teams - after.teams)),
    )
    if details:
        yield "changed", details


def _former(runtime: _Runtime, old: _Runtimes) -> _Runtime | None:
    """Return the version that a new one follows; None when it is the first on its nodes."""
    line = (each for each in old.values() if each.line == runtime.line and runtime.version)
    earlier = (each for each in line if 0 < each.version < runtime.version)
    return max(earlier, key=lambda each: each.version, default=None)


def _teams(name: str, old: _Runtimes, new: _Runtimes) -> frozenset[str]:
    nobody: frozenset[str] = frozenset()
    return nobody.union(*(side[name].teams for side in (old, new) if name in side))
