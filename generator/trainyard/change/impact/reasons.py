"""Say why an object leaves the tree."""

from __future__ import annotations

from collections import defaultdict

from trainyard.change.impact.losses import why_lost
from trainyard.change.impact.model import Sides
from trainyard.change.impact.places import pool_of, pools_of, team_of_object
from trainyard.change.impact.uses import spaces_of, uses
from trainyard.change.objects import of_kind
from trainyard.model import names
from trainyard.model.differences import few
from trainyard.model.identity import identity
from trainyard.model.lookup import value_at
from trainyard.model.manifest import Manifest

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
    pool, kind = pool_of(old), old.kind.name
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
    return _of_runtime(sides, old) if kind == _RUNTIME else _REASONS.get(kind, _OTHERWISE)


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
        namespaces.add(names.TEAM_PREFIX + old.name.removeprefix(name("")))
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
