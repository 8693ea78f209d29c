"""The claims that the pods of a job mount: whether there is one, and who can make it."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from trainyard.model.lookup import mappings, value_at
from trainyard.model.space import Space
from trainyard_jobs.fit.case import Case
from trainyard_jobs.fit.verdict import Check, Link, Standing

_KIND = "PersistentVolumeClaim"
_LOST = "Lost"
"""Phase of a claim whose volume is gone (kubernetes/api:core/v1/types.go@v0.36.3)."""
_PENDING = "pods that mount it hold their quota and stay Pending"


def claim_checks(case: Case) -> Iterator[Check]:
    """Yield the claims that pods mount in vain: those that nobody has made, and lost ones.

    None of them refuses a job: Kubernetes looks for a claim when it places a pod.
    """
    if case.space is None:
        return
    for name in dict.fromkeys(_mounted(case)):
        message = _fault(case, case.space, name)
        if message:
            at = case.space.profile.at / "claims"
            yield Check(Link.VOLUMES, Standing.ADMITTED, message, at, repair=_repair(case, name))


def _mounted(case: Case) -> Iterator[str]:
    for pods in case.pods:
        for volume in mappings(pods.template, "spec", "volumes"):
            name = value_at(volume, "persistentVolumeClaim.claimName")
            if name:
                yield str(name)


def _fault(case: Case, space: Space, name: str) -> str:
    """Return why a claim can't be mounted; empty if it can, as far as is known."""
    seen = case.ground.snapshot.claims if case.ground.snapshot else {}
    phase = seen.get((case.namespace, name))
    if phase == _LOST:
        return f"claim {name} has lost its volume: {_PENDING}"
    if phase or case.ground.objects.find(_KIND, name, case.namespace):
        return ""
    if seen:
        return f"there is no claim {name}: {_PENDING}; {_maker(space)}"
    return f"the profiles have no claim {name}; unless there is one, {_PENDING}: {_maker(space)}"


def _maker(space: Space) -> str:
    """Return who can make a claim; one that was there before the tree needs nobody."""
    if not space.allowances:
        return "the team's profile has no `claims` to create one"
    classes = " or ".join(space.claimable_classes)
    return f"an admin of team {space.team.name} can make it, of storage class {classes}"


def _repair(case: Case, name: str) -> tuple[str, ...]:
    """Return the claims that the job may mean: those with a like name, else all of them."""
    there = [claim.name for claim in case.ground.objects.of(_KIND, case.namespace)]
    seen = case.ground.snapshot.claims if case.ground.snapshot else {}
    there += [
        each
        for (namespace, each), phase in seen.items()
        if namespace == case.namespace and phase != _LOST
    ]
    named = get_close_matches(name, there, n=1) or sorted({*there} - {name})
    return (f"set claimName to {' or '.join(named)}",) if named else ()
