"""The rule on flavors: a queue keeps those that its jobs run on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.history.replacement import Replacement
from trainyard.model.differences import few
from trainyard.model.identity import identity, team_of
from trainyard.model.manifest import Manifest

FLAVOR_LEAVES_QUEUE = Rule(
    id="change/flavor-leaves-queue",
    severity=Severity.ERROR,
    summary="A queue keeps its pools, by name, as long as its team is not drained.",
    why="""
        Kueue no longer counts jobs on a flavor that their queue doesn't list: jobs ran beyond the
        quota, and a flavor that is deleted while it is used hangs: `Detected changes to resource
        <pool> which is currently being deleted` (both seen with Kueue 0.19.2). A pool that is
        renamed is another flavor.
    """,
    fix="""
        Keep the pool and its name. To remove it, first merge only `state: draining` for its teams.
    """,
)
RULES = (FLAVOR_LEAVES_QUEUE,)


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


def _left(replacement: Replacement, queue: Manifest) -> Iterator[str]:
    """Yield the flavors that a queue loses."""
    new = replacement.after.get(identity(queue))
    kept = set(_flavors(new.body)) if new else set()
    return (flavor for flavor in _flavors(queue.body) if flavor not in kept)


def _flavors(body: dict[str, Any]) -> Iterator[str]:
    for group in body["spec"]["resourceGroups"]:
        for flavor in group["flavors"]:
            yield flavor["name"]
