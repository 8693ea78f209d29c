"""Rails keep their resource names while jobs run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from trainyard.change.history.replacement import Replacement
from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.model.differences import few
from trainyard.model.pool import Rail
from trainyard.rules.change.rails_renamed import RULE as RAILS_RENAMED


def rails_renamed(replacement: Replacement) -> Iterator[Diagnostic]:
    """Compare the resource of each rail of the nodes that jobs may run on."""
    cluster = replacement.site.cluster
    renamed: dict[Pointer, list[tuple[str, str]]] = defaultdict(list)
    rails = _rails_in_use(replacement)
    for old, new in replacement.pairs("SriovNetworkNodePolicy"):
        before, after = old.body["spec"]["resourceName"], new.body["spec"]["resourceName"]
        if new.name in rails and before != after:
            rail = rails[new.name]
            renamed[rail.fabric.at].append((rail.pool.name, f"{before} -> {after}"))
    for at, changes in renamed.items():
        pools = few(dict.fromkeys(f"`{pool}`" for pool, _ in changes))
        names = few(dict.fromkeys(change for _, change in changes))
        message = (
            f"rails of pool {pools} on cluster `{cluster.name}` are renamed while jobs may run "
            f"there: {names}"
        )
        yield RAILS_RENAMED.at(at / "resources", message)


def _rails_in_use(replacement: Replacement) -> dict[str, Rail]:
    """Return the rails of pools in use, by the names of their policies."""
    used = _pools_in_use(replacement)
    rails: dict[str, Rail] = {}
    for pool in replacement.site.cluster.pools:
        if pool.name in used:
            rails |= {rail.policy_name: rail for rail in pool.rails}
    return rails


def _pools_in_use(replacement: Replacement) -> set[str]:
    """Return the pools of open queues that stay on their fabric.

    `change/immutable-field` reports a pool that moves to another one.
    """
    used: set[str] = set()
    for queue in replacement.open_queues():
        for group in queue.body["spec"]["resourceGroups"]:
            used.update(flavor["name"] for flavor in group["flavors"])
    pairs = replacement.pairs("ResourceFlavor")
    return used & {new.name for old, new in pairs if _topology(old.body) == _topology(new.body)}


def _topology(body: dict[str, Any]) -> str:
    return str(body.get("spec", {}).get("topologyName", ""))
