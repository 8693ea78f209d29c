"""The rule on flavors: a queue keeps those that its jobs run on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from trainyard.change.history.replacement import Replacement
from trainyard.change.impact.places import pools_of_queue
from trainyard.diagnostics import Diagnostic
from trainyard.model.differences import few
from trainyard.model.identity import identity, team_of
from trainyard.model.manifest import Manifest
from trainyard.rules.change.flavor_leaves_queue import RULE as FLAVOR_LEAVES_QUEUE


def flavor_leaves_queue(replacement: Replacement) -> Iterator[Diagnostic]:
    """Compare the flavors of each queue that lets jobs run before and after."""
    site = replacement.site
    pools = {pool.name for pool in site.cluster.pools}
    places = {tenant.name: tenant.team.at for tenant in site.tenants}
    gone: dict[str, list[str]] = defaultdict(list)
    for queue in replacement.open_queues():
        at = places.get(team_of(queue))
        if at is None:
            continue
        for flavor in _left(replacement, queue):
            if flavor in pools:
                message = (
                    f"queue `{queue.name}` of cluster `{site.name}` loses pool `{flavor}` "
                    "while its jobs may run"
                )
                yield FLAVOR_LEAVES_QUEUE.at(at / "quota" / site.name, message)
            else:
                gone[flavor].append(queue.name)
    for flavor, queues in gone.items():
        at = site.cluster.at / "pools"
        message = (
            f"pool `{flavor}` is gone from cluster `{site.name}`, and queues had it: {few(queues)}"
        )
        yield FLAVOR_LEAVES_QUEUE.at(at, message)


def _left(replacement: Replacement, queue: Manifest) -> list[str]:
    """Return the flavors that a queue loses."""
    new = replacement.after.get(identity(queue))
    kept = pools_of_queue(new) if new else ()
    return [flavor for flavor in pools_of_queue(queue) if flavor not in kept]
