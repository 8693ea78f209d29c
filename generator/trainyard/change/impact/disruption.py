"""What runs and is disturbed by a change, once for each cause."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil

from trainyard.change.impact.objects import ObjectChange
from trainyard.change.impact.places import Occupancy, occupancy, pool_of
from trainyard.change.impact.reach import cause
from trainyard.change.impact.reaction import Edited, Effect, Reaction, Touched, flavor_of
from trainyard.change.impact.reactions.table import reaction_to
from trainyard.change.objects import Sides, of_kind
from trainyard.model.differences import Difference
from trainyard.model.immutable import refused_changes
from trainyard.model.lookup import value_at
from trainyard.model.manifest import Manifest


@dataclass(frozen=True, slots=True)
class Disruption:
    """What runs and is disturbed, once for each cause.

    Args:
        cause: the edit, e.g. ``MTU of fabric ib 9000 -> 4200``.
        consequence, source, lost: as the reaction has them.
        pool: whose nodes are touched; empty when none is, or those of several pools.
        nodes: at most touched.
        pace: of emptied nodes, e.g. ``one after the other`` or ``all at once``; else empty.
        teams: whose jobs or data are touched, sorted.
        gpus: running GPUs at most touched.
    """

    effect: Effect
    cause: str
    consequence: str
    source: str
    pool: str
    nodes: int
    pace: str
    teams: tuple[str, ...]
    gpus: int
    lost: str = ""

    @property
    def size(self) -> tuple[int, int, int]:
        """How bad it is: by effect, then by GPUs and nodes."""
        return self.effect, self.gpus, self.nodes


_ONE = "one after the other"
_OF_JOBS = frozenset({Effect.UNCOUNTS, Effect.RECLAIMS, Effect.EVICTS})
"""Effects that touch nothing where no job can run."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A reaction to one edit."""

    effect: Effect
    cause: str
    edited: Edited
    reaction: Reaction
    touched: Touched


@dataclass(frozen=True, slots=True)
class Disturbed:
    """A disruption with all edits of its cause."""

    disruption: Disruption
    hits: tuple[Hit, ...]


def disruptions(sides: Sides, objects: Iterable[ObjectChange]) -> tuple[Disruption, ...]:
    """Return what `disturbed` returns, without the edits."""
    return tuple(each.disruption for each in disturbed(sides, objects))


def disturbed(sides: Sides, objects: Iterable[ObjectChange]) -> tuple[Disturbed, ...]:
    """Return what is disturbed, the worst first; nothing when nothing that runs is touched.

    Args:
        sides: of one cluster.
        objects: what `object_changes` returns for it.
    """
    now = occupancy(sides)
    causes: dict[tuple[Effect, str], list[Hit]] = defaultdict(list)
    for hit in _hits(now, objects):
        causes[hit.effect, hit.cause].append(hit)
    found = [_disruption(now, hits) for hits in causes.values()]
    touching = [each for each in found if _touches_something(each.disruption)]
    return tuple(sorted(touching, key=_rank))


def _touches_something(disruption: Disruption) -> bool:
    return disruption.effect not in _OF_JOBS or disruption.nodes > 0


def _rank(disturbed: Disturbed) -> tuple[int | str, ...]:
    """Return what sorts the worst first."""
    disruption = disturbed.disruption
    return (*(-size for size in disruption.size), disruption.cause)


def _hits(now: Occupancy, objects: Iterable[ObjectChange]) -> Iterator[Hit]:
    for change in objects:
        verb = _verb(now.sides, change)
        seen = set()
        for edited in _edited(now.sides, change, verb):
            reaction = reaction_to(now.sides, edited, verb)
            if reaction is None or reaction.effect is None:
                continue
            flavor = flavor_of(edited)
            # The amounts of a flavor's resources change together.
            if flavor and (reaction.fields, flavor) in seen:
                continue
            seen.add((reaction.fields, flavor))
            words = cause(now, edited, reaction)
            yield Hit(reaction.effect, words, edited, reaction, reaction.reach(now, edited))


def _verb(sides: Sides, change: ObjectChange) -> str:
    """Return what the API server is asked for.

    What takes the place of another under a new name is created.
    """
    taken = change.change == "recreated" and change.identity not in sides.before
    return "created" if taken else change.change


def _edited(sides: Sides, change: ObjectChange, verb: str) -> Iterator[Edited]:
    """Yield the edits of an object: each field of a changed one, which may have several effects."""
    old, new = sides.before.get(change.identity), sides.after.get(change.identity)
    fields: Iterable[Difference | None] = (None,)
    if verb == "recreated" and old and new:
        fields = refused_changes(old, new)
    elif verb == "changed":
        fields = change.fields
    for field in fields:
        yield Edited(change, old, new, field)


def _disruption(now: Occupancy, hits: list[Hit]) -> Disturbed:
    """Return what the hits of one cause touch together."""
    first = hits[0]
    touched = Touched()
    for hit in hits:
        touched |= hit.touched
    jobs = touched.quotas | {key for key in now.jobs if key[1] in touched.pools}
    busy = now.busy(jobs)
    nodes = {pool: ceil(count) for pool, count in busy.items()}
    for pool in touched.pools & now.pools.keys():
        nodes[pool] = now.pools[pool].nodes
    disruption = Disruption(
        effect=first.effect,
        cause=first.cause,
        consequence=_consequence(now.sides, first),
        source=first.reaction.source,
        pool=next(iter(nodes)) if len(nodes) == 1 else "",
        nodes=sum(nodes.values()),
        pace=_pace(now.sides, first),
        teams=tuple(sorted(touched.teams | {team for team, _ in jobs})),
        gpus=now.gpus(busy),
        lost=first.reaction.lost,
    )
    return Disturbed(disruption, tuple(hits))


def _consequence(sides: Sides, hit: Hit) -> str:
    """Return what happens, and who begins it where Argo CD does not."""
    by_hand = sides.new is not None and sides.new.cluster.node_sync == "manual"
    if by_hand and (hit.edited.new or hit.edited.manifest).unit == "nodes":
        return f"Nothing happens until somebody syncs `nodes/`. {hit.reaction.consequence}"
    return hit.reaction.consequence


def _pace(sides: Sides, hit: Hit) -> str:
    """Return how many nodes are emptied at a time; empty where none is.

    Without a configuration of the pool it is one, and without a number in it all
    (k8snetworkplumbingwg/sriov-network-operator:api/v1/helper.go@v1.6.0). A MachineConfigPool's
    number is one by default
    (openshift/machine-config-operator:pkg/controller/node/node_controller.go@53e78f3692ee).
    """
    if hit.effect not in {Effect.DRAINS, Effect.REBOOTS}:
        return ""
    config = _pool_config(sides, hit)
    if config is None:
        return _ONE
    number = value_at(config.body, "spec.maxUnavailable")
    if number is None and config.kind.name == "SriovNetworkPoolConfig":
        return "all at once"
    return _ONE if number in {None, 1} else f"{number} at a time"


def _pool_config(sides: Sides, hit: Hit) -> Manifest | None:
    """Return the object that says how many nodes of the hit's pool are emptied at a time."""
    pool = pool_of(hit.edited.manifest)
    for config in of_kind(sides.after or sides.before, hit.reaction.pace):
        if pool_of(config) == pool:
            return config
    return None
