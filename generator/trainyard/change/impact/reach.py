"""Whom a change reaches: whose jobs and nodes, by which edit, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import TypeVar

from trainyard.change.impact.places import (
    Occupancy,
    pool_of,
    pools_of,
    pools_of_queue,
    team_of_object,
    teams_moved,
    teams_that_stay,
)
from trainyard.change.impact.reaction import Edited, Reaction, Touched, flavor_of
from trainyard.change.impact.reclaim import Key
from trainyard.change.objects import Sides
from trainyard.model.lookup import value_at
from trainyard.model.manifest import Manifest
from trainyard.model.quantity import format_seconds

_Group = TypeVar("_Group")


def pool(_occupancy: Occupancy, edited: Edited) -> Touched:
    """Return all nodes of the object's pool."""
    return Touched(pools=frozenset({pool_of(edited.manifest)}))


def every_pool(occupancy: Occupancy, _edited: Edited) -> Touched:
    """Return all nodes of the cluster."""
    return Touched(pools=frozenset(occupancy.pools))


def named(_occupancy: Occupancy, edited: Edited) -> Touched:
    """Return the object's team, of which no job is touched."""
    return Touched(teams=frozenset({team_of_object(edited.manifest)} - {""}))


def kept_namespaces(occupancy: Occupancy, _edited: Edited) -> Touched:
    """Return the teams that keep a namespace, of which no running job is touched."""
    return Touched(teams=teams_that_stay(occupancy.sides))


def team(occupancy: Occupancy, edited: Edited) -> Touched:
    """Return all jobs of the object's team."""
    return _quotas(occupancy.of_team, [team_of_object(edited.manifest)])


def queue(occupancy: Occupancy, edited: Edited) -> Touched:
    """Return the jobs in a ClusterQueue."""
    pools = pools_of_queue(edited.manifest)
    own = occupancy.of_team.get(team_of_object(edited.manifest), frozenset())
    return Touched(quotas=frozenset(key for key in own if key[1] in pools))


def losers_of_flavor(occupancy: Occupancy, edited: Edited) -> Touched:
    """Return the jobs that lose nodes by a team's quota on the flavor that a field is about."""
    key = (team_of_object(edited.manifest), flavor_of(edited))
    return _losers(occupancy, occupancy.losers.get(key, frozenset()))


def losers_of_move(occupancy: Occupancy, edited: Edited) -> Touched:
    """Return the jobs that lose nodes by the teams of a ClusterQueue or below a Cohort.

    These are the jobs of the teams that move, and of those that borrowed from them.
    """
    moved = teams_moved(occupancy.sides, edited.manifest)
    lost: set[Key] = set()
    for (cause, _), keys in occupancy.losers.items():
        lost.update(key for key in keys if cause in moved or key[0] in moved)
    return _losers(occupancy, frozenset(lost))


def _losers(occupancy: Occupancy, keys: frozenset[Key]) -> Touched:
    return Touched(quotas=keys & occupancy.jobs.keys())


def borrowers(occupancy: Occupancy, edited: Edited) -> Touched:
    """Return the jobs of other teams that borrow in the cohort of a ClusterQueue or Cohort."""
    root = occupancy.root(_cohort(edited.manifest))
    every = occupancy.borrowing.get((root, ""), frozenset())
    own = occupancy.of_team.get(team_of_object(edited.manifest), frozenset())
    return Touched(quotas=frozenset(every - own))


def cohort(occupancy: Occupancy, edited: Edited) -> Touched:
    """Return the jobs that borrow in a ClusterQueue's cohort on its pools, its own included."""
    root = occupancy.root(_cohort(edited.manifest))
    groups = ((root, name) for name in pools_of_queue(edited.manifest))
    return _quotas(occupancy.borrowing, groups)


def all_borrowers(occupancy: Occupancy, _edited: Edited) -> Touched:
    """Return the jobs of all teams that borrow."""
    return _quotas(occupancy.borrowing, occupancy.borrowing)


def everybody(occupancy: Occupancy, _edited: Edited) -> Touched:
    """Return all jobs."""
    return Touched(quotas=frozenset(occupancy.jobs))


def runtime(occupancy: Occupancy, edited: Edited) -> Touched:
    """Return the jobs that a runtime's pods may run in: those of its teams, on its nodes."""
    return _quotas(occupancy.runtimes, [edited.manifest.name])


def priority(occupancy: Occupancy, edited: Edited) -> Touched:
    """Return the jobs of the teams that may use a priority."""
    teams = occupancy.priorities.get(edited.manifest.name, frozenset())
    return _quotas(occupancy.of_team, teams)


def _quotas(jobs: Mapping[_Group, AbstractSet[Key]], groups: Iterable[_Group]) -> Touched:
    """Return the jobs of some groups of them."""
    quotas: set[Key] = set()
    for group in groups:
        quotas |= jobs.get(group, frozenset())
    return Touched(quotas=frozenset(quotas))


def _cohort(manifest: Manifest) -> str:
    """Return the cohort that a ClusterQueue is in, or that a Cohort is."""
    if manifest.kind.name == "Cohort":
        return manifest.name
    return str(value_at(manifest.body, "spec.cohortName") or "")


def cause(occupancy: Occupancy, edited: Edited, reaction: Reaction) -> str:
    """Return the edit: the reaction's words with names and values.

    What a new pool brings has one cause, whatever its objects are, and so has a node of which less
    is allocatable.
    """
    pool = pool_of(edited.manifest)
    if pool and edited.change.change == "created" and not _is_known(occupancy, pool):
        return f"pool `{pool}` is new"
    words = _words(edited) | _quota_words(occupancy, edited) | _keep_words(occupancy.sides)
    if ("{own}" in reaction.cause or "{lent}" in reaction.cause) and "own" not in words:
        return f"allocatable of a node of pool `{flavor_of(edited)}` is lowered"
    return reaction.cause.format_map(words)


def _words(edited: Edited) -> dict[str, str]:
    identity = edited.change.identity
    return {
        "change": edited.field.display if edited.field else "",
        "field": edited.field.path.removeprefix("spec.") if edited.field else "",
        "kind": identity.kind,
        "name": "/".join(filter(None, (identity.namespace, identity.name))),
        "pool": pool_of(edited.manifest) or flavor_of(edited),
        "storage": _storage(edited.manifest),
        "team": team_of_object(edited.manifest),
    }


def _quota_words(occupancy: Occupancy, edited: Edited) -> dict[str, str]:
    """Return a quota before and after, as the profile states it; nothing where it is the same."""
    key = (team_of_object(edited.manifest), flavor_of(edited))
    old, new = occupancy.old.get(key), occupancy.new.get(key)
    if old is None or new is None or (old.nodes, old.lend) == (new.nodes, new.lend):
        return {}
    return {
        "own": f"{old.units(old.nodes)} -> {new.display(new.nodes)}",
        "lent": f"{old.units(old.lend)} -> {new.display(new.lend)}",
    }


def _keep_words(sides: Sides) -> dict[str, str]:
    """Return how long finished jobs are kept; nothing where they stay."""
    cleanup = sides.new.cluster.finished_jobs if sides.new else None
    return {"keep": format_seconds(cleanup.keep)} if cleanup else {}


def _storage(manifest: Manifest) -> str:
    """Return the kind of storage of a claim, or of the claim that a volume is for."""
    if manifest.kind.name == "PersistentVolumeClaim":
        return manifest.name
    return str(value_at(manifest.body, "spec.claimRef.name") or "")


def _is_known(occupancy: Occupancy, pool: str) -> bool:
    sides = occupancy.sides
    return pool in pools_of(sides.old) or pool in map(pool_of, sides.before.values())
