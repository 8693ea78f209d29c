"""Whether changes reach a cluster through Argo CD, and disturb no job that they should not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from trainyard.diagnostics import Pointer
from trainyard.model.manifest import Manifest
from trainyard.model.tenant import Tenant
from trainyard_rehearsal.checks.git_delivery import GitDelivery, Tree, contents, differences
from trainyard_rehearsal.checks.jobs import TRAINER
from trainyard_rehearsal.checks.watch import Watch, watch
from trainyard_rehearsal.control_plane.api import Refused
from trainyard_rehearsal.control_plane.fakes import settle
from trainyard_rehearsal.control_plane.nodes import nodes
from trainyard_rehearsal.outcome import Failure, Outcome, counted

_APPROVED = "argocd.argoproj.io/deletion-approved"
_BY_HAND = ("AppProject", "PersistentVolume")
"""Kinds that an administrator deletes in the end."""
_WARY = 5.0
"""Seconds within which what must wait for an approval would be seen to go."""


class Unfit(Exception):  # noqa: N818 - it says so of profiles, and is no failure of ours
    """Profiles have errors after a change; it names them."""


@dataclass(frozen=True, slots=True)
class Course:
    """What is merged one after the other; each call changes the profiles and returns what is then to lie in Git.

    Every call raises `Unfit` where the profiles have errors then.

    Args:
        first: the team whose quota grows, and that guests may look at.
        guests: their group.
        leaving: the team that is retired.
        successor: name of the team that comes for it.
    """

    first: Tenant
    guests: str
    leaving: Tenant
    successor: str
    grow: Callable[[], Tree]
    welcome: Callable[[], Tree]
    drain: Callable[[], Tree]
    retire: Callable[[], Tree]
    succeed: Callable[[], Tree]


_Step = tuple[GitDelivery, list[str]]
"""What there is after a change, and what went wrong."""


def check_changes(delivery: GitDelivery, course: Course) -> Iterator[Outcome]:
    """Grow a quota, let guests in, retire a team and add one, while a job of each team runs.

    Args:
        delivery: that came.
        course: what is merged.
    """
    watched, failures = watch(delivery.lab, delivery.tree.samples)
    first, leaving = course.first.team.at, course.leaving.team.at
    tried = ["grow a quota"]
    try:
        delivery, words = _grown(delivery, course)
        failures += _failures(tried[-1], words, watched, first)
        tried.append("change a role")
        delivery, words = _welcomed(delivery, course)
        failures += _failures(tried[-1], words, watched, first)
        tried.append("retire a team")
        delivery, words = _drained(delivery, course, watched)
        watched = watched.without(course.leaving.name)
        delivery, outcome = _retired(delivery, course)
        yield outcome
        failures += _failures(tried[-1], words, watched, leaving)
        tried.append("add a team")
        delivery, words = _succeeded(delivery, course)
        failures += _failures(tried[-1], words, watched, leaving)
    except (Unfit, Refused) as error:
        failures.append(Failure(tried[-1], str(error), leaving))
    yield counted(
        "changes through Argo CD",
        len(tried),
        failures,
        f"running jobs beside them: {len(watched.jobs)}",
    )
    watched.end()


def _failures(change: str, words: list[str], watched: Watch, at: Pointer) -> Iterator[Failure]:
    """Yield what went wrong with a change, and whose job it disturbed."""
    yield from (Failure(change, each, at) for each in words)
    yield from (
        Failure(change, f"{each.what}: {each.words}", each.at) for each in watched.disturbed()
    )


def _merged(delivery: GitDelivery, tree: Tree, health: tuple[str, ...] = ("Healthy",)) -> _Step:
    delivery, commit = delivery.merged(tree)
    return delivery, [
        f"{each.what}: {each.words}" for each in delivery.settled(commit, health=health)
    ]


def _grown(delivery: GitDelivery, course: Course) -> _Step:
    """Add a node, and give it to the first team."""
    tree, api = course.grow(), delivery.lab.api
    there = {body["metadata"]["name"] for body in api.list("v1", "Node")}
    for node in nodes(tree.site):
        if node["metadata"]["name"] not in there:
            api.create(node)
    return _merged(delivery, tree)


def _welcomed(delivery: GitDelivery, course: Course) -> _Step:
    """Give guests a role in the first team, and have one look at its jobs."""
    namespace = course.first.spaces[0].namespace
    guest = delivery.lab.api.acting("guest", [course.guests, "system:authenticated"])

    def refused() -> str:
        try:
            guest.list(TRAINER, "TrainJob", namespace)
        except Refused as answer:
            return str(answer)
        return ""

    early = [] if refused() else [f"a stranger sees the jobs in {namespace}"]
    delivery, words = _merged(delivery, course.welcome())
    return delivery, [*early, *words, *filter(None, [refused()])]


def _drained(delivery: GitDelivery, course: Course, watched: Watch) -> _Step:
    """Have a team's jobs evicted: Argo CD then says that its queue is Suspended."""
    delivery, words = _merged(delivery, course.drain(), ("Healthy", "Suspended", "Progressing"))
    if course.leaving.name in watched.jobs:
        job, _, _ = watched.jobs[course.leaving.name]
        if not delivery.waited(lambda: not job.pods):
            words.append(f"{job.namespace}/{job.name} still runs: {job.waits_because}")
    return delivery, words


def _retired(delivery: GitDelivery, course: Course) -> tuple[GitDelivery, Outcome]:
    """Merge the tombstone; delete the Application, approve it, and clean up, as the how-to page says."""
    unit, before = f"teams/{course.leaving.name}", delivery.tree.manifests
    delivery, commit = delivery.merged(course.retire())
    left = {manifest.path for manifest in delivery.tree.manifests}
    gone = [manifest for manifest in before if manifest.path not in left]
    failures = delivery.orphaned(course.leaving.application)
    failures += _deleted(delivery, course.leaving, [each for each in gone if each.unit == unit])
    # Argo CD makes again what is deleted before it knows that Git has it no longer.
    failures += delivery.compared(commit)
    for manifest in (each for each in gone if each.kind.name in _BY_HAND):
        delivery.lab.api.delete(manifest.body)
    failures += delivery.settled(commit)
    delivery.waited(lambda: not any(_is_there(delivery, manifest) for manifest in gone))
    failures += [
        Failure(each.path, "is still there", each.at) for each in gone if _is_there(delivery, each)
    ]
    return delivery, counted(
        "retirement completed", len(gone), failures, f"of team {course.leaving.name}"
    )


def _deleted(delivery: GitDelivery, team: Tenant, own: Sequence[Manifest]) -> Iterator[Failure]:
    """Delete a team's Application, look whether it waits, and approve."""
    api, name = delivery.lab.api, team.application
    before, application = contents(delivery.lab, own), delivery.application(name)
    if not application:
        yield Failure(name, "is not there", team.team.at)
        return
    api.delete(application)
    delivery.waited(lambda: False, _WARY)
    yield from differences(delivery.lab, own, before, "goes before the approval")
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    api.patch(application, {"metadata": {"annotations": {_APPROVED: now}}})
    if not delivery.waited(lambda: name not in delivery.applications()):
        yield Failure(name, f"does not go: {delivery.display(name)}", team.team.at)


def _is_there(delivery: GitDelivery, manifest: Manifest) -> bool:
    found = delivery.lab.api.find(
        manifest.body["apiVersion"], manifest.kind.name, manifest.name, manifest.namespace
    )
    return bool(found)


def _succeeded(delivery: GitDelivery, course: Course) -> _Step:
    """Add a team, and have it run a job."""
    delivery, commit = delivery.merged(course.succeed())
    project = next(
        tenant.application
        for tenant in delivery.tree.site.tenants
        if tenant.name == course.successor
    )
    # Seen before its AppProject came, a team's folder is an error that is looked at again in three
    # minutes.
    delivery.waited(lambda: delivery.has_project(project))
    delivery.list_teams()
    words = [f"{each.what}: {each.words}" for each in delivery.settled(commit)]
    settle(delivery.lab)
    samples = [
        each for each in delivery.tree.samples if each[0].space.team.name == course.successor
    ]
    newcomers, failures = watch(delivery.lab, samples)
    newcomers.end()
    return delivery, [*words, *(f"{each.what}: {each.words}" for each in failures)]
