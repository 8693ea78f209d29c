"""Choose the cluster and the node pool of a new team."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TypeVar

from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.model.cluster import Cluster
from trainyard.model.named import by_name
from trainyard.model.platform import Platform
from trainyard.rules.references.unknown_place import RULE as UNKNOWN_PLACE

T = TypeVar("T")


def chosen(name: str, known: Mapping[str, T]) -> T | None:
    """Return the thing of a name; without a name, the only one that there is."""
    if not name and len(known) == 1:
        return next(iter(known.values()))
    return known.get(name)


def choice(
    kind: str, name: str, known: Mapping[str, T], at: Pointer
) -> tuple[T | None, tuple[Diagnostic, ...]]:
    """Return the thing of a name as `chosen` does, or the finding of `unknown`."""
    thing = chosen(name, known)
    return thing, () if thing is not None else (unknown(kind, name, known, at),)


def chosen_cluster(platform: Platform, name: str) -> tuple[Cluster | None, tuple[Diagnostic, ...]]:
    """Return the cluster of a name, or without a name the only one; or why none is known."""
    clusters = by_name(site.cluster for site in platform.sites)
    return choice("cluster", name, clusters, Pointer("profiles/clusters"))


def unknown(kind: str, name: str, known: Mapping[str, object], at: Pointer) -> Diagnostic:
    """Return the finding that a name is unknown, or missing where there are several.

    Args:
        kind: of the thing, as the command line calls it, e.g. ``cluster``.
        name: that was given; empty when none was.
        known: the names that could be given.
        at: where they are defined.
    """
    listed = f"there is: {', '.join(sorted(known))}" if known else f"no {kind} is defined yet"
    if name:
        return UNKNOWN_PLACE.at(at, f"there is no {kind} `{name}`", hint=listed)
    option = kind.removeprefix("node ")
    hint = f"Add `--{option} NAME`; {listed}" if known else listed
    return UNKNOWN_PLACE.at(at, f"no {kind} is given", hint=hint)


def unknown_pool(name: str, platform: Platform) -> Iterator[Diagnostic]:
    """Yield that a pool is wrong or missing whichever cluster is chosen: one run reports all."""
    clusters = [site.cluster for site in platform.sites]
    pools = by_name(chain.from_iterable(cluster.pools for cluster in clusters))
    needed = name or all(len(cluster.pools) > 1 for cluster in clusters)
    if clusters and needed and chosen(name, pools) is None:
        yield unknown("node pool", name, pools, Pointer("profiles/clusters"))
