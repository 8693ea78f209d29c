"""Rules on what running jobs need: their runtime, the pools of their queue, and its rails."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import chain
from typing import Any

from trainyard import __version__
from trainyard.change.history.replacement import Replacement
from trainyard.change.impact.places import pools_of_queue
from trainyard.diagnostics import Diagnostic, Note, Pointer
from trainyard.model.differences import Difference, differences, few
from trainyard.model.identity import identity, team_of
from trainyard.model.launch import Launch
from trainyard.model.lookup import EVERY, texts
from trainyard.model.manifest import Manifest
from trainyard.model.pool import Rail
from trainyard.rules.change.flavor_leaves_queue import RULE as FLAVOR_LEAVES_QUEUE
from trainyard.rules.change.rails_renamed import RULE as RAILS_RENAMED
from trainyard.rules.change.runtime_edited_in_place import RULE as RUNTIME_EDITED_IN_PLACE

_INSIDE = re.compile(
    r"(?:template\.spec\.)?(?:replicatedJobs\[(?P<job>[^]]+)]\.)?"
    r"(?:template\.)?(?:spec\.template\.)?(?:spec\.)?"
    r"(?:(?:initC|c)ontainers\[[^]]+]\.)?(?P<field>.+)",
    re.DOTALL,
)

_AMOUNT = re.compile(r"\Aresources\.(?:limits|requests)\.")
"""Requests equal limits in every runtime: both are reported as one change."""


def runtime_edited_in_place(replacement: Replacement) -> Iterator[Diagnostic]:
    """Compare each runtime with the committed one of its name.

    A change that several runtimes of one profile share is reported once.
    """
    launches = {launch.name: launch for launch in replacement.site.launches}
    found: dict[tuple[Pointer, str], list[Launch]] = defaultdict(list)
    notes: dict[Pointer, dict[Note, None]] = defaultdict(dict)
    for old, new in replacement.pairs("ClusterTrainingRuntime"):
        changed = tuple(differences(old.body["spec"], new.body["spec"]))
        if changed:
            found[new.at, _described(changed)].append(launches[new.name])
            notes[new.at].update(dict.fromkeys(_origins(launches[new.name], changed)))
    for (at, description), edited in found.items():
        named = few(f"`{launch.name}`" for launch in edited)
        changes = (
            f"ClusterTrainingRuntime {named} changes in place on cluster "
            f"`{replacement.site.name}`: {description}"
        )
        message = f"{changes}; namespaces that may run it: {_namespaces(replacement, edited)}"
        reasons = [*notes[at], *_upgrade(replacement)]
        yield RUNTIME_EDITED_IN_PLACE.at(at / "version", message, notes=reasons)


def _described(changed: tuple[Difference, ...]) -> str:
    """Return the first changes, each with the replicated jobs that have it."""
    jobs: dict[str, dict[str, None]] = defaultdict(dict)
    for difference in changed:
        job, field = _split(difference)
        jobs[f"{field} {difference.display}"] |= {job: None} if job else {}
    described = []
    for change, names in jobs.items():
        where = " and ".join(names)
        described.append(f"{change} in {where}" if where else change)
    return few(described)


def _split(difference: Difference) -> tuple[str, str]:
    """Return the replicated job that a change is in, empty for none, and the field in its pod."""
    match = _INSIDE.fullmatch(difference.path)
    assert match is not None, difference.path
    return match["job"] or "", _AMOUNT.sub("resources.", match["field"])


def _namespaces(replacement: Replacement, edited: list[Launch]) -> int:
    """Return how many namespaces the committed limits allow any of these runtimes."""
    names = {launch.name for launch in edited}
    count = 0
    for limits in replacement.old("ConfigMap"):
        allowed = limits.body.get("data", {}).get("runtimes", "")
        count += not names.isdisjoint(allowed.split())
    return count


def _origins(launch: Launch, changed: tuple[Difference, ...]) -> Iterator[Note]:
    fields = [_split(difference)[1] for difference in changed]
    if any(field.startswith(("resources", "nodeSelector")) for field in fields):
        yield Note("the nodes and a pod's share of them come from here", launch.hardware.at)
    if launch.fabric and any(field.startswith("metadata.annotations") for field in fields):
        yield Note("the networks of a pod come from here", launch.fabric.at)


def _upgrade(replacement: Replacement) -> Iterator[Note]:
    if replacement.tool != __version__:
        yield Note(
            f"the committed tree was written by Trainyard {replacement.tool}; this is {__version__}"
        )


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


def rails_renamed(replacement: Replacement) -> Iterator[Diagnostic]:
    """Compare the resource of each rail of the nodes that jobs may run on.

    Another release may have another prefix, and the operator in another namespace.
    """
    pools: dict[Pointer, list[str]] = defaultdict(list)
    changes: dict[Pointer, list[str]] = defaultdict(list)
    policies = {old.name: old for old in replacement.old("SriovNetworkNodePolicy")}
    covered = _covered(replacement)
    for rail in _rails_in_use(replacement):
        if old := policies.get(rail.policy_name):
            name = old.body["spec"]["resourceName"]
            names, at = (name, rail.resource_name), rail.fabric.at / "resources"
            if name == rail.resource_name:
                names = covered.get(name, rail.resource), rail.resource
                at = replacement.site.cluster.at / "release"
            if names[0] != names[1]:
                pools[at].append(f"`{rail.pool.name}`")
                changes[at].append(" -> ".join(names))
    for at, some in pools.items():
        message = (
            f"rails of pool {few(dict.fromkeys(some))} on cluster "
            f"`{replacement.site.name}` are renamed while jobs may run there: "
            f"{few(dict.fromkeys(changes[at]))}"
        )
        yield RAILS_RENAMED.at(at, message)


def _covered(replacement: Replacement) -> dict[str, str]:
    """Return the resources that committed queues cover, by their names without prefix."""
    covered = {}
    for queue in replacement.open_queues():
        for name in texts(queue.body, "spec", "resourceGroups", EVERY, "coveredResources"):
            covered[name.rpartition("/")[2]] = name
    return covered


def _rails_in_use(replacement: Replacement) -> Iterator[Rail]:
    """Yield the rails of pools in use."""
    used = _pools_in_use(replacement)
    for pool in replacement.site.cluster.pools:
        yield from pool.rails if pool.name in used else ()


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
