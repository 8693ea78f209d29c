"""Names that keys may refer to, so that most edits refer to something that exists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from tests.changes.documents import Documents, files_of, places
from tests.changes.keys import NAME, Key
from trainyard.profiles.read import PACKAGE
from trainyard.rulebook import all_rules

Finder = Callable[[Documents], Iterator[str]]


def found(finders: Mapping[str, Finder], key: Key, documents: Documents) -> list[str]:
    """Return the names that a key may take; empty if it takes any."""
    finder = finders.get(str(key))
    return list(finder(documents)) if finder else []


def _names(kind: str) -> Finder:
    return lambda documents: (
        file.split("/")[1].removesuffix(".yaml") for file in files_of(kind, documents)
    )


def _keys(kind: str, *steps: str) -> Finder:
    def found(documents: Documents) -> Iterator[str]:
        for file in files_of(kind, documents):
            yield from (str(place[-1]) for place in places(documents[file], steps))

    return found


def _shipped(pattern: str, parent: int) -> Finder:
    return lambda _: (
        (*path.parts[:-1], path.stem)[parent] for path in sorted(PACKAGE.glob(pattern))
    )


def _namespaces(documents: Documents) -> Iterator[str]:
    return (f"team-{name}" for name in _names("team")(documents))


NAMES: dict[str, Finder] = {
    "allocations.*": _names("cluster"),
    "allocations.*.*": _keys("cluster", "fabrics", NAME),
    "allocations.*.*.*": _names("team"),
    "allocations.*.uids.*": _namespaces,
    "cluster.monitoring.severity.*": lambda _: iter(("TrainyardGpuXid", "TrainyardJobFailed")),
    "cluster.monitoring.waiting.*": _keys("cluster", "priorities", NAME),
    "runtime.libraries.*": lambda _: iter(("openmpi", "torch", "intel-mpi", "nccl")),
    "team.mpiJobs.*": _names("cluster"),
    "team.quota.*": _names("cluster"),
    "team.quota.*.*": _keys("cluster", "pools", NAME),
    "team.spaces.*.storage.*": _keys("cluster", "storage", NAME),
    "team.storage.*": _keys("cluster", "storage", NAME),
    "trainyard.owners.clusters.*": _names("cluster"),
}
"""Names of entries of a mapping that refer to something."""

REFERENCES: dict[str, Finder] = {
    "cluster.cohorts.*.parent": _keys("cluster", "cohorts", NAME),
    "cluster.finishedJobs.pullSecret": _keys("cluster", "pullSecrets", NAME),
    "cluster.pools.*.fabric": _keys("cluster", "fabrics", NAME),
    "cluster.pools.*.hardware": _names("hardware"),
    "cluster.release": _shipped("releases/*/release.yaml", -2),
    "hardware.extends": _shipped("presets/*.yaml", -1),
    "runtime.hardware.[]": _names("hardware"),
    "runtime.initialize.volume": _keys("cluster", "storage", NAME),
    "runtime.pullSecret": _keys("cluster", "pullSecrets", NAME),
    "team.cohort": _keys("cluster", "cohorts", NAME),
    "team.components.[]": _names("component"),
    "team.compliance": _names("compliance"),
    "team.folder": _names("team"),
    "team.priorities.[]": _keys("cluster", "priorities", NAME),
    "team.renamedFrom": _names("team"),
    "team.defaultRuntime": _names("runtime"),
    "team.runtimes.[]": _names("runtime"),
    "team.spaces.*.priorities.[]": _keys("cluster", "priorities", NAME),
    "waivers.waivers.[].file": lambda documents: (f"profiles/{file}" for file in documents),
    "waivers.waivers.[].rule": lambda _: (rule.id for rule in all_rules()),
}
"""Names as the value of a key."""
