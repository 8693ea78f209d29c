"""The edit behind a disruption, in words."""

from __future__ import annotations

from trainyard.change.impact.model import Sides
from trainyard.change.impact.occupancy import Occupancy
from trainyard.change.impact.places import pool_of, pools_of, team_of_object
from trainyard.change.impact.reaction import Edited, Reaction, flavor_of
from trainyard.model.lookup import value_at
from trainyard.model.manifest import Manifest
from trainyard.model.quantity import format_seconds


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
