"""Rails keep their resource names while jobs run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain
from typing import Any

from trainyard.change.history.replacement import Replacement
from trainyard.change.impact.places import pools_of_queue
from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.model.differences import few
from trainyard.model.pool import Rail
from trainyard.rules.change.rails_renamed import RULE as RAILS_RENAMED


def rails_renamed(replacement: Replacement) -> Iterator[Diagnostic]:
    """Compare the resource of each rail of the nodes that jobs may run on."""
    pools: dict[Pointer, list[str]] = defaultdict(list)
    changes: dict[Pointer, list[str]] = defaultdict(list)
    rails = _rails_in_use(replacement)
    for old, new in replacement.pairs("SriovNetworkNodePolicy"):
        before, after = old.body["spec"]["resourceName"], new.body["spec"]["resourceName"]
        if new.name in rails and before != after:
            rail = rails[new.name]
            pools[rail.fabric.at].append(f"`{rail.pool.name}`")
            changes[rail.fabric.at].append(f"{before} -> {after}")
    for at, names in pools.items():
        message = (
            f"rails of pool {few(dict.fromkeys(names))} on cluster "
            f"`{replacement.site.name}` are renamed while jobs may run there: "
            f"{few(dict.fromkeys(changes[at]))}"
        )
        yield RAILS_RENAMED.at(at / "resources", message)


def _rails_in_use(replacement: Replacement) -> dict[str, Rail]:
    """Return the rails of pools in use, by the names of their policies."""
    used = _pools_in_use(replacement)
    rails: dict[str, Rail] = {}
    for pool in replacement.site.cluster.pools:
        for rail in pool.rails if pool.name in used else ():
            rails[rail.policy_name] = rail
    return rails


def _pools_in_use(replacement: Replacement) -> set[str]:
    """Return the pools of open queues that stay on their fabric.

    `change/immutable-field` reports a pool that moves to another one.
    """
    used = set(chain.from_iterable(map(pools_of_queue, replacement.open_queues())))
    stay = set()
    for old, new in replacement.pairs("ResourceFlavor"):
        if _topology(old.body) == _topology(new.body):
            stay.add(new.name)
    return used & stay


def _topology(body: dict[str, Any]) -> str:
    return str(body.get("spec", {}).get("topologyName", ""))
