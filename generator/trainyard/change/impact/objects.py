"""Objects that are created, changed, recreated, deleted or left behind, and why."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from trainyard.change.impact.places import pool_of, pools_of, team_of_object, team_of_unit
from trainyard.change.impact.remaining import units_of, why_it_stays
from trainyard.change.impact.uses import spaces_of, uses, why_lost
from trainyard.change.objects import Sides, of_kind
from trainyard.model import names
from trainyard.model.differences import Difference, differences, few
from trainyard.model.identity import Identity, identity
from trainyard.model.immutable import refused_changes
from trainyard.model.lookup import value_at
from trainyard.model.manifest import UNLISTED, Manifest


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """An object that is created, changed, recreated, deleted or left behind.

    Args:
        change: one of these words; an object that is recreated is in no other list, under its new
            name. What is left behind leaves the tree and stays on the cluster.
        scope: ``stateless``, ``stateful`` (its deletion loses data), ``cluster-wide``, or
            ``artifact``: a file that nothing syncs.
        unit: sync unit that has it, or had it.
        reason: why it is deleted, left behind, recreated or in another unit; else empty.
        fields: what differs, sorted by path.
    """

    identity: Identity
    change: str
    scope: str
    unit: str
    reason: str
    fields: tuple[Difference, ...]


NAME_OF_QUEUE = "no profile gives the queue this name"
"""Why a LocalQueue goes whose ClusterQueue stays; jobs that wait in it start no more."""

STATEFUL = frozenset({"Namespace", "PersistentVolume", "PersistentVolumeClaim"})
"""Kinds whose deletion loses data."""


def object_changes(sides: Sides) -> tuple[ObjectChange, ...]:
    """Return what happens to each object that differs, sorted by identity."""
    before, after = sides.before, sides.after
    gone, units = before.keys() - after.keys(), units_of(after)
    taken = replaced(gone, after.keys() - before.keys(), sides.renamed)
    changes: list[ObjectChange] = []
    for key, new in after.items():
        if key in before:
            changes += _kept(before[key], new)
        elif key in taken:
            gone.remove(taken[key].identity)
            changes.append(_taken(units, before[taken[key].identity], new, taken[key].reason))
        else:
            changes.append(_change(new, "created", "", ()))
    removed = removed_namespaces(sides)
    for key in gone:
        reason = why_it_leaves(sides, removed, before[key])
        changes.append(_gone(units, reason, before[key]))
    return tuple(sorted(changes, key=lambda change: change.identity))


def number_synced(objects: Iterable[Manifest]) -> int:
    """Return how many objects of a tree Argo CD syncs."""
    return sum(scope_of(each) != "artifact" for each in objects)


def number_deleted(changes: Iterable[ObjectChange]) -> int:
    """Return how many objects Argo CD deletes; it never had a file that it does not sync."""
    return sum(each.change == "deleted" and each.scope != "artifact" for each in changes)


def scope_of(manifest: Manifest) -> str:
    """Return the class of an object, as `ObjectChange` has it."""
    if manifest.unit in UNLISTED:
        return "artifact"
    if manifest.kind.name in STATEFUL:
        return "stateful"
    return "stateless" if team_of_unit(manifest) else "cluster-wide"


def _kept(old: Manifest, new: Manifest) -> Iterator[ObjectChange]:
    """Yield the change of an object that stays, if there is one."""
    if old.body == new.body and old.unit == new.unit:
        return
    fields = differences(old.body, new.body)
    if refused := few(field.path.removeprefix("spec.") for field in refused_changes(old, new)):
        yield _change(new, "recreated", f"the API server never changes {refused}", fields)
    else:
        moved = f"moves from `{old.unit}/` to `{new.unit}/`" if old.unit != new.unit else ""
        yield _change(new, "changed", moved, fields)


def _taken(units: frozenset[str], old: Manifest, new: Manifest, reason: str) -> ObjectChange:
    """Return the change of an object that takes the place of another, under a new name."""
    left = "; the old one is left behind" if why_it_stays(units, old) else ""
    return _change(new, "recreated", reason + left, differences(old.body, new.body))


def _gone(units: frozenset[str], reason: str, old: Manifest) -> ObjectChange:
    if left := why_it_stays(units, old):
        return _change(old, "left behind", f"{reason}; {left}", ())
    return _change(old, "deleted", reason, ())


def _change(
    manifest: Manifest, change: str, reason: str, fields: Iterable[Difference]
) -> ObjectChange:
    ordered = tuple(sorted(fields, key=lambda field: field.path))
    scope = scope_of(manifest)
    return ObjectChange(identity(manifest), change, scope, manifest.unit, reason, ordered)


_VERSION = re.compile(r"-v(\d+)-")
"""Of a runtime, in the names that `model/names.py` composes."""


class Predecessor(NamedTuple):
    """What an object takes the place of, and why: ``version 2 -> 3`` or a team's new name."""

    identity: Identity
    reason: str


def replaced(
    gone: Iterable[Identity], new: Iterable[Identity], renamed: Mapping[str, str]
) -> dict[Identity, Predecessor]:
    """Return the predecessors of new objects.

    A runtime gives way to its next version, and an object of a renamed team to the same one under
    the team's new name.

    Args:
        gone: objects that leave the tree.
        new: objects that join it.
        renamed: old name of a team -> its new name.
    """
    left, free = set(gone), set(new)
    found: dict[Identity, Predecessor] = {}
    for old in sorted(left):
        for taken, reason in _under_new_names(old, renamed):
            if taken in free:
                left.remove(old)
                free.remove(taken)
                found[taken] = Predecessor(old, reason)
                break
    return found | dict(_next_versions(left, free))


def _under_new_names(old: Identity, renamed: Mapping[str, str]) -> Iterator[tuple[Identity, str]]:
    for before, after in sorted(renamed.items()):
        word = re.compile(rf"(?<![a-z0-9]){re.escape(before)}(?![a-z0-9])")
        new = Identity(old.kind, word.sub(after, old.namespace), word.sub(after, old.name))
        if new != old:
            yield new, f"team `{before}` is now `{after}`"


def _next_versions(
    gone: Iterable[Identity], new: Iterable[Identity]
) -> Iterator[tuple[Identity, Predecessor]]:
    """Yield the runtimes that differ in their version only, the latest of both sides."""
    before, after = _by_stem(gone), _by_stem(new)
    for stem in sorted(before.keys() & after.keys()):
        for newer, older in zip(after[stem], before[stem], strict=False):
            yield newer, Predecessor(older, f"version {_version(older)} -> {_version(newer)}")


def _by_stem(runtimes: Iterable[Identity]) -> dict[str, list[Identity]]:
    """Return runtimes by their name without version, the latest version first."""
    stems: dict[str, list[Identity]] = defaultdict(list)
    for runtime in sorted(runtimes, reverse=True):
        if runtime.kind == "ClusterTrainingRuntime" and _VERSION.search(runtime.name):
            stems[_VERSION.sub("-", runtime.name)].append(runtime)
    for versions in stems.values():
        versions.sort(key=_version, reverse=True)
    return stems


def _version(runtime: Identity) -> int:
    match = _VERSION.search(runtime.name)
    return int(match[1]) if match else 0


_MADE_FOR = ("spec.networkNamespace", "spec.claimRef.namespace")
"""Fields with the namespace that an object of another one, or of none, is made for."""

_REASONS = {
    "ClusterQueue": "no quota on such nodes",
    "Cohort": "cohort removed",
    "CronJob": "clean-up of finished jobs removed",
    "IPPool": "its team has no such rail any more",
    "LocalQueue": "no quota on such nodes",
    "Namespace": "namespace removed",
    "NetworkAttachmentDefinition": "its team has no such rail any more",
    "NetworkPolicy": "no such path any more",
    "PersistentVolume": "storage not requested",
    "PersistentVolumeClaim": "storage not requested",
    "RoleBinding": "nobody has the role",
    "ServiceAccount": "account removed",
    "SriovNetwork": "its team has no such rail any more",
    "Topology": "topology or fabric removed",
    "WorkloadPriorityClass": "priority removed",
}
"""Why an object of a kind goes while its team, namespace, pool and cluster stay."""

_RUNTIME, _OTHERWISE = "ClusterTrainingRuntime", "not generated any more"


def why_it_leaves(sides: Sides, removed: frozenset[str], old: Manifest) -> str:
    """Return why an object leaves the tree.

    Args:
        sides: of the cluster.
        removed: namespaces that leave the tree.
        old: the object.
    """
    pool = pool_of(old)
    if not sides.after:
        return "cluster removed"
    if _team_leaves(sides, old):
        return f"team `{team_of_object(old)}` leaves the cluster"
    if old.by_hand:
        return "no component of the team has it any more"
    if pool and pool not in pools_of(sides.new):
        return f"pool `{pool}` removed"
    if _spaces(old) & removed:
        return "namespace removed"
    return _of_kind(sides, old)


def _of_kind(sides: Sides, old: Manifest) -> str:
    """Return why an object goes while all that it is for stays."""
    kind = old.kind.name
    if kind == "LocalQueue" and _leads_on(sides, old):
        return NAME_OF_QUEUE
    return _of_runtime(sides, old) if kind == _RUNTIME else _REASONS.get(kind, _OTHERWISE)


def _leads_on(sides: Sides, local: Manifest) -> bool:
    """Return whether a LocalQueue's ClusterQueue stays."""
    queue = str(value_at(local.body, "spec.clusterQueue"))
    return Identity("ClusterQueue", "", queue) in sides.after


def removed_namespaces(sides: Sides) -> frozenset[str]:
    """Return the namespaces that are on the side before only."""
    gone = of_kind(sides.before, "Namespace")
    return frozenset(space.name for space in gone if identity(space) not in sides.after)


def _team_leaves(sides: Sides, old: Manifest) -> bool:
    team = team_of_object(old)
    return bool(team) and sides.new is not None and team not in sides.tenants[1]


def _spaces(old: Manifest) -> set[str]:
    """Return the namespaces that an object is in or made for, and others that there are not."""
    namespaces = {old.namespace}
    for name in (names.job_limits, names.job_help):
        if old.name.startswith(name("")):
            space = old.name.removeprefix(name(""))
            namespaces |= {space, names.TEAM_PREFIX + space}
    for field in _MADE_FOR:
        namespaces.add(str(value_at(old.body, field)))
    return namespaces


def _of_runtime(sides: Sides, old: Manifest) -> str:
    """Return why nobody may use a runtime any more: each reason with the namespaces it is for."""
    reasons: dict[str, list[str]] = defaultdict(list)
    kept, spaces = uses(sides.after, {}), spaces_of(sides.after, {})
    for use, used in uses(sides.before, sides.renamed).items():
        if used.name == old.name:
            reason = "namespace removed"
            if use in kept:
                reason = "a share of another size"
            elif use.space in spaces:
                reason = why_lost(sides, use, used) or _OTHERWISE
            reasons[reason].append(use.space)
    shown = (f"{reason} ({few(sorted(some))})" for reason, some in sorted(reasons.items()))
    return "; ".join(shown) or "no team lists the runtime"
