"""What else must hold for a reaction, and what several reactions of Kueue share."""

from __future__ import annotations

from trainyard.change.impact.places import peers_of, teams_moved, teams_that_stay
from trainyard.change.impact.reaction import Condition, Edited
from trainyard.change.objects import Sides
from trainyard.model.lookup import mapping, value_at
from trainyard.model.network import MPI_JOBS
from trainyard.model.quantity import parse_amount
from trainyard.model.version import numbers

BOTH = "seen with Kueue 0.16.2 and 0.19.2"
SEEN = "seen with Kueue 0.19.2"
WEIGHED = "kubernetes-sigs/kueue:pkg/cache/scheduler/fair_sharing.go@v0.19.2"
COUNTED = "kubernetes-sigs/kueue:pkg/cache/scheduler/cache.go@v0.19.2"
RECLAIMED = (
    "Running jobs stay until another team of the cohort needs its own nodes. Kueue then evicts "
    "whole jobs beyond the quota, the lowest priority first."
)
MOVED = (
    "Kueue counts the queues in the new tree at once. Running jobs stay until an owner there needs "
    "its own nodes: then whole jobs on borrowed nodes are evicted."
)
REFUSED = (
    "The API server refuses the change, and Argo CD repeats the sync without end. Somebody must "
    "delete the object, and Argo CD creates it again."
)
SHARED = (
    "Kueue shares borrowed nodes by weight: it evicts jobs on borrowed nodes of a team that has "
    "more than its share."
)


def becomes(value: str) -> Condition:
    """Return the condition that a field gets a value."""
    return lambda _sides, edited: edited.values[1] == value


def is_labelled(key: str) -> Condition:
    """Return the condition that an object has a label."""
    return lambda _sides, edited: key in mapping(edited.manifest.body, "metadata", "labels")


def is_set(_sides: Sides, edited: Edited) -> bool:
    """Return whether a field has a value afterwards."""
    return edited.values[1] is not None


def appears(_sides: Sides, edited: Edited) -> bool:
    """Return whether a field has a value afterwards only."""
    old, new = edited.values
    return old is None and new is not None


def takes_off_the_brake(sides: Sides, edited: Edited) -> bool:
    """Return whether an Application is that of the nodes, which somebody started until now."""
    old, new = sides.old, sides.new
    return (
        edited.change.identity.name == f"{sides.name}-nodes"
        and old is not None
        and new is not None
        and old.cluster.node_sync == "manual" != new.cluster.node_sync
    )


def keeps_edited_jobs(sides: Sides, _edited: Edited) -> bool:
    """Return whether the cluster's Kueue leaves the pods of a job that it counts no more."""
    site = sides.old or sides.new
    return site is not None and numbers(site.cluster.versions["kueue"]) < (0, 17)


def teams_stay(sides: Sides, _edited: Edited) -> bool:
    """Return whether a team had a namespace before, and so may have finished jobs."""
    return bool(teams_that_stay(sides))


def is_lowered(_sides: Sides, edited: Edited) -> bool:
    """Return whether an amount is lowered."""
    return _is_lower(*edited.values)


def is_order(_sides: Sides, edited: Edited) -> bool:
    """Return whether a field is a list whose members have another order."""
    return all(isinstance(each, list) for each in edited.values)


def lends_less(sides: Sides, edited: Edited) -> bool:
    """Return whether a lending limit is lowered, and not with the quota that it is of."""
    path = edited.field.path if edited.field else ""
    quota = path.replace("lendingLimit", "nominalQuota")
    for field in edited.change.fields:
        if field.path == quota and _is_lower(field.old, field.new):
            return False
    return is_lowered(sides, edited)


def of_nvidia(_sides: Sides, edited: Edited) -> bool:
    """Return whether a policy is about cards of NVIDIA, whose firmware the operator changes."""
    return bool(value_at(edited.manifest.body, "spec.nicSelector.vendor") == "15b3")


def moves(sides: Sides, edited: Edited) -> bool:
    """Return whether an object that comes or goes has its name in another namespace too.

    Another operator then does what its own one did.
    """
    own = edited.change.identity
    others = sides.before if edited.old is None else sides.after
    return any(
        (each.kind, each.name) == (own.kind, own.name) and each.namespace != own.namespace
        for each in others
    )


def moves_of_nvidia(sides: Sides, edited: Edited) -> bool:
    """Return whether a policy about cards of NVIDIA has its name in another namespace too."""
    return of_nvidia(sides, edited) and moves(sides, edited)


def of_mpi_jobs(_sides: Sides, edited: Edited) -> bool:
    """Return whether a NetworkPolicy joins the ranks of a team's MPIJobs."""
    return edited.manifest.name == MPI_JOBS


def has_other_peers(sides: Sides, edited: Edited) -> bool:
    """Return whether a team of an object's cohort shares a tree of cohorts with other teams now.

    A cohort with another name, or another cohort above the same teams, lends as before.
    """
    before, after = peers_of(sides)
    moved = {sides.renamed.get(team, team) for team in teams_moved(sides, edited.manifest)}
    return any(before.get(team) != after.get(team) for team in moved) or sides.old is None


def has_parent(_sides: Sides, edited: Edited) -> bool:
    """Return whether a cohort is below another, before a change and after it."""
    return all(
        side is not None and value_at(side.body, "spec.parentName") is not None
        for side in (edited.old, edited.new)
    )


def appears_below_a_parent(sides: Sides, edited: Edited) -> bool:
    """Return whether a field of a cohort that stays below another has a value afterwards only.

    Kueue weighs no cohort without a parent
    (kubernetes-sigs/kueue:pkg/cache/scheduler/fair_sharing.go@v0.16.2 and @v0.19.2).
    """
    return appears(sides, edited) and has_parent(sides, edited)


def _is_lower(old: object, new: object) -> bool:
    """Return whether an amount is lowered; one in a form of its own may be."""
    try:
        return parse_amount(str(new)) < parse_amount(str(old))
    except ValueError:
        return True
