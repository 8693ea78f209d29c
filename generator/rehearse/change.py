"""Whether changes reach a cluster through Argo CD, and disturb no job that they should not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from generator.diagnostics import Pointer
from generator.model.manifest import Manifest
from generator.model.tenant import Tenant
from generator.rehearse.api import Refused
from generator.rehearse.delivery import Delivery, Tree, contents, differences
from generator.rehearse.jobs import TRAINER
from generator.rehearse.nodes import nodes
from generator.rehearse.outcome import Failure, Outcome, counted
from generator.rehearse.stand_ins import settle
from generator.rehearse.watch import Watch, watch

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


_Step = tuple[Delivery, list[str]]
"""What there is after a change, and what went wrong."""


def check_changes(delivery: Delivery, course: Course) -> Iterator[Outcome]:
    """Grow a quota, let guests in, retire a team and add one, while a job of each team runs.

    Args:
        delivery: that came.
        course: what is merged.
    """
    watched, failures = watch(delivery.lab, delivery.tree.samples)
    at = course.leaving.team.at
    try:
        delivery, words = _grown(delivery, course)
        failures += _failures("grow a quota", words, watched, course.first.team.at)
        delivery, words = _welcomed(delivery, course)
        failures += _failures("change a role", words, watched, course.first.team.at)
        delivery, words = _drained(delivery, course, watched)
        watched = watched.without(course.leaving.name)
        before = delivery.tree
        delivery, ended = _retired(delivery, course)
        gone = [each for each in before.manifests if each.path not in {each.path for each in delivery.tree.manifests}]
        yield counted("retirement completed", len(gone), ended, f"of team {course.leaving.name}")
        failures += _failures("retire a team", words, watched, at)
        delivery, words = _succeeded(delivery, course)
        failures += _failures("add a team", words, watched, at)
    except Unfit as unfit:
        failures.append(Failure("profiles", str(unfit), at))
    yield counted("changes through Argo CD", 4, failures, f"while {len(watched.jobs)} jobs run")
    watched.end()


def _failures(change: str, words: list[str], watched: Watch, at: Pointer) -> Iterator[Failure]:
    """Yield what went wrong with a change, and whose job it disturbed."""
    yield from (Failure(change, each, at) for each in words)
    yield from (Failure(change, f"{each.what}: {each.words}", each.at) for each in watched.disturbed())


def _merged(delivery: Delivery, tree: Tree, health: tuple[str, ...] = ("Healthy",)) -> _Step:
    delivery, commit = delivery.merged(tree)
    return delivery, [f"{each.what}: {each.words}" for each in delivery.settled(commit, health=health)]


def _grown(delivery: Delivery, course: Course) -> _Step:
    """Add a node, and give it to the first team."""
    tree, api = course.grow(), delivery.lab.api
    there = {body["metadata"]["name"] for body in api.list("v1", "Node")}
    for node in nodes(tree.site):
        if node["metadata"]["name"] not in there:
            api.create(node)
    return _merged(delivery, tree)


def _welcomed(delivery: Delivery, course: Course) -> _Step:
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


def _drained(delivery: Delivery, course: Course, watched: Watch) -> _Step:
    """Have a team's jobs evicted: Argo CD then says that its queue is Suspended."""
    delivery, words = _merged(delivery, course.drain(), ("Healthy", "Suspended", "Progressing"))
    if course.leaving.name in watched.jobs:
        job, _, _ = watched.jobs[course.leaving.name]
        if not delivery.waited(lambda: not job.pods):
            words.append(f"{job.namespace}/{job.name} still runs: {job.waits_because}")
    return delivery, words


def _retired(delivery: Delivery, course: Course) -> tuple[Delivery, list[Failure]]:
    """Merge the tombstone; delete the Application, approve it, and clean up, as the how-to page says."""
    api, name, at = delivery.lab.api, course.leaving.application, course.leaving.team.at
    before = delivery.tree.manifests
    own = [manifest for manifest in before if manifest.unit == f"teams/{course.leaving.name}"]
    held = contents(delivery.lab, own)
    delivery, commit = delivery.merged(course.retire())
    failures = delivery.orphaned(name)
    api.delete(delivery.application(name))
    delivery.waited(lambda: False, _WARY)
    failures += differences(delivery.lab, own, held, "goes before the approval")
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    api.patch(delivery.application(name), {"metadata": {"annotations": {_APPROVED: now}}})
    if not delivery.waited(lambda: name not in delivery.applications()):
        failures.append(Failure(name, f"does not go: {delivery.told(name)}", at))
    left = {manifest.path for manifest in delivery.tree.manifests}
    gone = [manifest for manifest in before if manifest.path not in left]
    for manifest in (each for each in gone if each.kind.name in _BY_HAND):
        api.delete(manifest.body)
    failures += delivery.settled(commit)
    delivery.waited(lambda: not any(_is_there(delivery, manifest) for manifest in gone))
    failures += [Failure(each.path, "is still there", each.at) for each in gone if _is_there(delivery, each)]
    return delivery, failures


def _is_there(delivery: Delivery, manifest: Manifest) -> bool:
    try:
        delivery.lab.api.get(manifest.body["apiVersion"], manifest.kind.name, manifest.name, manifest.namespace)
    except Refused as refused:
        if refused.status != 404:
            raise
        return False
    return True


def _succeeded(delivery: Delivery, course: Course) -> _Step:
    """Add a team, and have it run a job."""
    delivery, commit = delivery.merged(course.succeed())
    project = next(tenant.application for tenant in delivery.tree.site.tenants if tenant.name == course.successor)
    # Seen before its AppProject came, a team's folder is an error that is looked at again in three minutes.
    delivery.waited(lambda: delivery.has_project(project))
    delivery.list_teams()
    words = [f"{each.what}: {each.words}" for each in delivery.settled(commit)]
    settle(delivery.lab)
    samples = [each for each in delivery.tree.samples if each[0].space.team.name == course.successor]
    newcomers, failures = watch(delivery.lab, samples)
    newcomers.end()
    return delivery, [*words, *(f"{each.what}: {each.words}" for each in failures)]
