"""Check that an upgrade keeps, recreates and deletes the objects that its plan says."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from trainyard.change.impact.objects import ObjectChange
from trainyard.model.identity import Identity, identity
from trainyard.model.manifest import Manifest
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.control_plane.refusal import Refused, unless_gone
from trainyard_rehearsal.outcome import Failure, Outcome, counted

_PATIENCE = 120.0
Uids = Mapping[Identity, str]


@dataclass(frozen=True, slots=True)
class PlannedObjects:
    """Objects of the trees before and after an upgrade, and what the plan says of them.

    Args:
        before, after: objects that Argo CD applies, by what the API server takes for the same.
        changes: what the plan says; of all others it says that nothing changes.
    """

    before: Mapping[Identity, Manifest]
    after: Mapping[Identity, Manifest]
    changes: Mapping[Identity, str]

    @property
    def stays(self) -> list[Identity]:
        """Objects whose uid stays: kept, changed, or left behind."""
        gone = self.before.keys() - self.after.keys()
        left = {key for key in gone if self.changes.get(key) == "left behind"}
        return sorted((self.before.keys() - gone - self.made_again) | left)

    @property
    def made_again(self) -> set[Identity]:
        """Objects that the API server can't change, under the same name before and after."""
        both = self.before.keys() & self.after.keys()
        return {key for key in both if self.changes.get(key) == "recreated"}

    @property
    def goes(self) -> list[Identity]:
        """Objects that the plan deletes, or replaces by one of another name."""
        return sorted(self.before.keys() - self.after.keys() - set(self.stays))

    @property
    def comes(self) -> list[Identity]:
        """Objects that are new, or made again."""
        return sorted((self.after.keys() - self.before.keys()) | self.made_again)


def planned(
    before: Sequence[Manifest], after: Sequence[Manifest], changes: Collection[ObjectChange]
) -> PlannedObjects:
    """Return the objects of two trees and what a plan says of them."""
    return PlannedObjects(
        {identity(manifest): manifest for manifest in before},
        {identity(manifest): manifest for manifest in after},
        {change.identity: change.change for change in changes},
    )


def uids(lab: Lab, plan: PlannedObjects) -> dict[Identity, str]:
    """Return the uid of each object of both trees that exists and is not being deleted."""
    wanted = plan.before.keys() | plan.after.keys()
    every = [*plan.before.values(), *plan.after.values()]
    found = {}
    for version, kind in sorted({(each.body["apiVersion"], each.kind.name) for each in every}):
        for body in _listed(lab, version, kind):
            metadata = body["metadata"]
            key = Identity(kind, metadata.get("namespace", ""), metadata["name"])
            if key in wanted and "deletionTimestamp" not in metadata:
                found[key] = str(metadata["uid"])
    return found


def _listed(lab: Lab, version: str, kind: str) -> list[dict[str, dict[str, str]]]:
    """Return the objects of a kind; none of one that this API server does not have."""
    try:
        return lab.api.list(version, kind)
    except Refused:
        return []


def prune(lab: Lab, plan: PlannedObjects, keys: Collection[Identity]) -> None:
    """Delete objects, as Argo CD does with what leaves the tree, and wait until they are gone.

    Raises:
        ToolError: one is not gone in time.
    """
    for key in sorted(keys):
        with unless_gone():
            lab.api.delete(plan.before[key].body)
    gone = partial(_are_gone, lab, plan, keys)
    lab.processes.wait_until(gone, f"the deletion of {len(keys)} objects", _PATIENCE)


def _are_gone(lab: Lab, plan: PlannedObjects, keys: Collection[Identity]) -> bool:
    bodies = (plan.before[key] for key in keys)
    return not any(
        lab.api.find(each.body["apiVersion"], each.kind.name, each.name, each.namespace)
        for each in bodies
    )


def check_objects(plan: PlannedObjects, before: Uids, after: Uids) -> Outcome:
    """Compare uids with the plan.

    Args:
        plan: what shall become of each object.
        before: uids before the first step.
        after: uids after the last one.
    """
    failures = []
    for key, words in _wrong(plan, before, after):
        manifest = plan.after.get(key) or plan.before[key]
        failures.append(Failure(manifest.path, words, manifest.at))
    every = plan.before.keys() | plan.after.keys()
    remark = (
        f"{len(plan.stays)} kept, {len(plan.made_again)} made again, "
        f"{len(plan.comes) - len(plan.made_again)} new, {len(plan.goes)} gone"
    )
    return counted("objects as planned", len(every), failures, remark)


def _wrong(plan: PlannedObjects, before: Uids, after: Uids) -> Iterator[tuple[Identity, str]]:
    """Yield each object that is not what the plan says, and what it is."""
    for key in plan.stays:
        if _fate(key, before, after) != "is the former one":
            yield key, f"the plan keeps it, and it {_fate(key, before, after)}"
    for key in plan.goes:
        if key in after:
            yield key, "the plan deletes it, and it is still there"
    for key in plan.comes:
        if _fate(key, before, after) != "was made":
            yield key, f"the plan makes it, and it {_fate(key, before, after)}"


def _fate(key: Identity, before: Uids, after: Uids) -> str:
    """Return what became of an object."""
    if key not in after:
        return "is not there"
    return "is the former one" if after[key] == before.get(key) else "was made"
