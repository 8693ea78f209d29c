"""Check that merged changes reach a cluster through Argo CD, and disturb no other team's job."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from trainyard.diagnostics import Pointer
from trainyard.model.manifest import Manifest
from trainyard.model.tenant import Tenant
from trainyard_rehearsal.checks.contents import contents, differences
from trainyard_rehearsal.checks.git_delivery import GitDelivery, Tree
from trainyard_rehearsal.checks.jobs import TRAINER
from trainyard_rehearsal.checks.watched_jobs import WatchedJobs, watch_jobs
from trainyard_rehearsal.control_plane.fakes import settle
from trainyard_rehearsal.control_plane.nodes import nodes
from trainyard_rehearsal.control_plane.refusal import Refused
from trainyard_rehearsal.outcome import Failure, Outcome, counted

_APPROVED = "argocd.argoproj.io/deletion-approved"
_DELETED_BY_HAND = ("AppProject", "PersistentVolume")
"""Kinds that an administrator deletes at the end of a retirement."""
_EARLY_DELETION = 5.0
"""Seconds within which a deletion without approval would be seen."""


class InvalidProfiles(Exception):  # noqa: N818 - it describes profiles, not a failure of ours
    """Profiles have errors after a change; the message lists them."""


@dataclass(frozen=True, slots=True)
class PlannedChanges:
    """Changes that are merged one after another.

    Each call changes the profiles and returns the new tree; it raises `InvalidProfiles` if the
    profiles then have errors.

    Args:
        first: the team whose quota grows, and that gets viewers.
        viewers: the group of the viewers.
        retiring: the team that is retired.
        successor: name of the team that is added afterwards.
    """

    first: Tenant
    viewers: str
    retiring: Tenant
    successor: str
    grow_quota: Callable[[], Tree]
    add_viewers: Callable[[], Tree]
    drain_team: Callable[[], Tree]
    retire_team: Callable[[], Tree]
    add_team: Callable[[], Tree]


_Step = tuple[GitDelivery, list[str]]
"""The delivery after a change, and its problems."""


def check_changes(delivery: GitDelivery, planned: PlannedChanges) -> Iterator[Outcome]:
    """Grow a quota, add viewers, retire a team and add one, while a job of each team runs.

    Args:
        delivery: that is synced.
        planned: the changes.
    """
    watched, failures = watch_jobs(delivery.lab, delivery.tree.samples)
    first, retiring = planned.first.team.at, planned.retiring.team.at
    tried = ["grow a quota"]
    try:
        delivery, problems = _grow_quota(delivery, planned)
        failures += _failures(tried[-1], problems, watched, first)
        tried.append("change a role")
        delivery, problems = _add_viewers(delivery, planned)
        failures += _failures(tried[-1], problems, watched, first)
        tried.append("retire a team")
        delivery, problems = _drain_team(delivery, planned, watched)
        watched = watched.without_team(planned.retiring.name)
        delivery, outcome = _retire_team(delivery, planned)
        yield outcome
        failures += _failures(tried[-1], problems, watched, retiring)
        tried.append("add a team")
        delivery, problems = _add_team(delivery, planned)
        failures += _failures(tried[-1], problems, watched, retiring)
    except (InvalidProfiles, Refused) as error:
        failures.append(Failure(tried[-1], str(error), retiring))
    remark = f"running jobs beside them: {len(watched.jobs)}"
    yield counted("changes delivered by Argo CD", len(tried), failures, remark)
    watched.delete()


def _failures(
    change: str, problems: list[str], watched: WatchedJobs, at: Pointer
) -> Iterator[Failure]:
    """Yield the problems of a change, and the jobs that it disturbed."""
    for problem in problems:
        yield Failure(change, problem, at)
    for each in watched.disturbed():
        yield Failure(change, _problem(each), each.at)


def _problem(failure: Failure) -> str:
    return f"{failure.what}: {failure.words}"


def _merge(delivery: GitDelivery, tree: Tree, health: tuple[str, ...] = ("Healthy",)) -> _Step:
    delivery, commit = delivery.merge(tree)
    return delivery, list(map(_problem, delivery.wait_until_synced(commit, health=health)))


def _grow_quota(delivery: GitDelivery, planned: PlannedChanges) -> _Step:
    """Add a node, and give it to the first team."""
    tree, api = planned.grow_quota(), delivery.lab.api
    existing = {body["metadata"]["name"] for body in api.list("v1", "Node")}
    for node in nodes(tree.site):
        if node["metadata"]["name"] not in existing:
            api.create(node)
    return _merge(delivery, tree)


def _add_viewers(delivery: GitDelivery, planned: PlannedChanges) -> _Step:
    """Give viewers a role in the first team; before, they must not see its jobs."""
    namespace = planned.first.spaces[0].namespace
    viewer = delivery.lab.api.acting("guest", [planned.viewers, "system:authenticated"])

    def refused() -> str:
        try:
            viewer.list(TRAINER, "TrainJob", namespace)
        except Refused as answer:
            return str(answer)
        return ""

    early = [] if refused() else [f"a stranger sees the jobs in {namespace}"]
    delivery, problems = _merge(delivery, planned.add_viewers())
    return delivery, [*early, *problems, *filter(None, [refused()])]


def _drain_team(delivery: GitDelivery, planned: PlannedChanges, watched: WatchedJobs) -> _Step:
    """Evict a team's jobs; Argo CD then reports its queue as Suspended."""
    tree = planned.drain_team()
    delivery, problems = _merge(delivery, tree, ("Healthy", "Suspended", "Progressing"))
    if planned.retiring.name in watched.jobs:
        job, _, _ = watched.jobs[planned.retiring.name]
        if not delivery.wait(lambda: not job.pods):
            problems.append(f"{job.namespace}/{job.name} still runs: {job.waiting_reason}")
    return delivery, problems


def _retire_team(delivery: GitDelivery, planned: PlannedChanges) -> tuple[GitDelivery, Outcome]:
    """Merge the tombstone, delete the Application with approval, and clean up, as documented."""
    team, before = planned.retiring, delivery.tree.manifests
    delivery, commit = delivery.merge(planned.retire_team())
    remaining = {manifest.path for manifest in delivery.tree.manifests}
    removed = [manifest for manifest in before if manifest.path not in remaining]
    own = [manifest for manifest in removed if manifest.unit == f"teams/{team.name}"]
    failures = delivery.wait_until_orphaned(team.application)
    failures += _delete_application(delivery, team, own)
    # Argo CD recreates objects that are deleted before it has compared the commit.
    failures += delivery.wait_until_compared(commit)
    _delete_by_hand(delivery, removed)
    failures += delivery.wait_until_synced(commit)
    delivery.wait(lambda: not any(_exists(delivery, manifest) for manifest in removed))
    failures += _remaining(delivery, removed)
    remark = f"of team {team.name}"
    return delivery, counted("retirement completed", len(removed), failures, remark)


def _delete_by_hand(delivery: GitDelivery, removed: Sequence[Manifest]) -> None:
    for manifest in removed:
        if manifest.kind.name in _DELETED_BY_HAND:
            delivery.lab.api.delete(manifest.body)


def _remaining(delivery: GitDelivery, removed: Sequence[Manifest]) -> Iterator[Failure]:
    for manifest in removed:
        if _exists(delivery, manifest):
            yield Failure(manifest.path, "is still there", manifest.at)


def _delete_application(
    delivery: GitDelivery, team: Tenant, own: Sequence[Manifest]
) -> Iterator[Failure]:
    """Delete a team's Application, check that it waits for approval, and approve."""
    api, name = delivery.lab.api, team.application
    before, application = contents(delivery.lab, own), delivery.application(name)
    if not application:
        yield Failure(name, "is not there", team.team.at)
        return
    api.delete(application)
    delivery.wait(lambda: False, _EARLY_DELETION)
    yield from differences(delivery.lab, own, before, "is deleted before the approval")
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    api.patch(application, {"metadata": {"annotations": {_APPROVED: now}}})
    if not delivery.wait(lambda: name not in delivery.applications()):
        yield Failure(name, f"is not deleted: {delivery.describe(name)}", team.team.at)


def _exists(delivery: GitDelivery, manifest: Manifest) -> bool:
    found = delivery.lab.api.find(
        manifest.body["apiVersion"], manifest.kind.name, manifest.name, manifest.namespace
    )
    return bool(found)


def _add_team(delivery: GitDelivery, planned: PlannedChanges) -> _Step:
    """Add a team, and run one of its jobs."""
    delivery, commit = delivery.merge(planned.add_team())
    name = next(
        tenant.application
        for tenant in delivery.tree.site.tenants
        if tenant.name == planned.successor
    )
    # Without its AppProject a team's folder is an error, which Argo CD looks at again only after
    # three minutes. Its own copy of the AppProjects may be late, so it is asked more than once.
    delivery.wait(lambda: delivery.has_project(name))

    def is_listed() -> bool:
        delivery.refresh_team_list()
        return bool(delivery.application(name))

    delivery.wait(is_listed)
    problems = list(map(_problem, delivery.wait_until_synced(commit)))
    settle(delivery.lab)
    samples = [
        sample for sample in delivery.tree.samples if sample[0].space.team.name == planned.successor
    ]
    newcomers, failures = watch_jobs(delivery.lab, samples)
    newcomers.delete()
    return delivery, [*problems, *map(_problem, failures)]
