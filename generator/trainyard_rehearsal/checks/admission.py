"""Whether the admission policies refuse what must not be, say why, and let everybody else through."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from trainyard.diagnostics import Pointer
from trainyard.model.manifest import Manifest
from trainyard.model.space import Sample, Space
from trainyard_rehearsal.checks.harmless import good_jobs
from trainyard_rehearsal.checks.hostile import (
    CLOSED,
    FOREGROUND,
    NO_PARAMETERS,
    ORPHAN,
    RESERVED,
    greedy_jobs,
    hostile_changes,
    hostile_jobs,
)
from trainyard_rehearsal.checks.jobs import KUEUE, Job, as_user, submit
from trainyard_rehearsal.checks.variants import Variant
from trainyard_rehearsal.control_plane.api import Api, Body, Refused, as_applied, at_once
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.outcome import Failure, Outcome, counted

_POLICIES = "admissionregistration.k8s.io/v1"
_OUR_FAULT = "resulted in error"
"""What the API server says when an expression of a policy fails."""

_PATIENCE = 120.0

_POLICY = "ValidatingAdmissionPolicy"
_INVALID = (400, 422)
"""What a schema or a webhook answers that looks at a request before the policies."""

Request = Callable[[], object]
"""Makes a request, as a dry run."""


@dataclass(frozen=True, slots=True)
class Try:
    """A request that must be let through, or be refused with these words."""

    display: str
    request: Request
    at: Pointer
    words: str = ""


class Tries:
    """Counts requests of one kind."""

    def __init__(self) -> None:
        self.tried = 0
        self.earlier = 0
        self.failures: list[Failure] = []

    def make(self, tries: Iterable[Try]) -> None:
        """Make requests; what a schema or a webhook refuses before the policies is refused as well."""
        made = list(tries)
        for each, refused in zip(
            made, at_once(partial(refusal, each.request) for each in made), strict=True
        ):
            said = str(refused or "let through")
            earlier = (
                bool(each.words)
                and refused is not None
                and refused.status in _INVALID
                and _POLICY not in said
            )
            fine = earlier or (
                each.words in said and _OUR_FAULT not in said if each.words else not refused
            )
            self.earlier += earlier
            self.failures += [] if fine else [Failure(each.display, said, each.at)]
        self.tried += len(made)

    def outcome(self, promise: str) -> Outcome:
        """Return what was counted."""
        remark = (
            f"{self.earlier} of them by schemas and webhooks, before the policies"
            if self.earlier
            else ""
        )
        return counted(promise, self.tried, self.failures, remark)


def refusal(request: Request) -> Refused | None:
    """Return the API server's refusal; nothing when it lets a request through."""
    try:
        request()
    except Refused as refused:
        return refused
    return None


def check_admission(lab: Lab, samples: Sequence[tuple[Sample, Manifest]]) -> Iterator[Outcome]:
    """Try bad jobs, bad changes and a team without its limits; and everything good beside them.

    Args:
        lab: with the tree applied, no job running.
        samples: the jobs that the tree has to copy.
    """
    good, bad, changes, closed = Tries(), Tries(), Tries(), Tries()
    yield _types(lab)
    for sample, manifest in samples:
        good.make(_jobs(lab, sample, manifest, good_jobs))
        bad.make(_jobs(lab, sample, manifest, greedy_jobs))
    for sample, manifest in _one_of_each_launcher(samples):
        bad.make(_jobs(lab, sample, manifest, hostile_jobs))
    yield bad.outcome("hostile jobs refused")
    for sample, manifest in _one_of_each_launcher(samples):
        for state, job in _states(lab, sample, manifest):
            changes.make(_hostile_changes(lab, sample, job, state))
            good.make(_good_changes(lab, sample, job, state))
    yield changes.outcome("hostile changes refused")
    for sample, manifest in {
        sample.space.namespace: (sample, manifest) for sample, manifest in samples
    }.values():
        _try_closed(lab, sample, manifest, closed)
    yield closed.outcome("closed without limits")
    yield good.outcome("good requests pass")


def _types(lab: Lab) -> Outcome:
    """Look whether the API server finds a fault in the types of an expression."""
    failures = []
    policies = lab.api.list(_POLICIES, "ValidatingAdmissionPolicy")
    for body in policies:
        name = body["metadata"]["name"]
        checked = lab.processes.waited(partial(_is_checked, lab.api, name), _PATIENCE)
        status = (
            lab.api.get(_POLICIES, "ValidatingAdmissionPolicy", name)["status"] if checked else {}
        )
        if warnings := status.get("typeChecking", {}).get(
            "expressionWarnings", [] if checked else ["never looked at"]
        ):
            failures.append(Failure(name, str(warnings), lab.plan.site.cluster.at))
    return counted("policies without a warning", len(policies), failures)


def _is_checked(api: Api, name: str) -> bool:
    body = api.get(_POLICIES, "ValidatingAdmissionPolicy", name)
    status = body.get("status") or {}
    return (
        status.get("observedGeneration") == body["metadata"]["generation"]
        and "typeChecking" in status
    )


def _jobs(
    lab: Lab,
    sample: Sample,
    manifest: Manifest,
    variants: Callable[[Sample, Body], Iterator[Variant]],
) -> Iterator[Try]:
    user = as_user(lab.api, sample.space)
    for each in variants(sample, manifest.body):
        request = partial(user.create, each.body, dry_run=True)
        yield Try(f"{manifest.name}: {each.display}", request, manifest.at, each.words)


def _one_of_each_launcher(
    samples: Sequence[tuple[Sample, Manifest]],
) -> list[tuple[Sample, Manifest]]:
    first = {each[0].launch.runtime.launcher.roles: each for each in reversed(samples)}
    return list(first.values())


def _states(lab: Lab, sample: Sample, manifest: Manifest) -> Iterator[tuple[str, Job]]:
    """Yield a job while it waits before a held queue, then while it runs."""
    queue = next(
        each for each in sample.space.queues if each.node_class == sample.launch.hardware.node_class
    )
    body = lab.api.get(KUEUE, "ClusterQueue", queue.name)
    with ExitStack() as stack:
        stack.callback(_hold, lab.api, body, body["spec"]["stopPolicy"])
        _hold(lab.api, body, "Hold")
        job = submit(lab.api, manifest.body, sample.space)
        stack.callback(remove, lab, job)
        lab.processes.wait_until(
            lambda: bool(job.workload), f"a Workload for {job.name}", _PATIENCE
        )
        yield f"{job.name}, waiting", job
        _hold(lab.api, body, body["spec"]["stopPolicy"])
        lab.processes.wait_until(lambda: _runs(job), f"the start of {job.name}", _PATIENCE)
        yield f"{job.name}, running", job


def _hold(api: Api, queue: Body, policy: str) -> None:
    api.patch(queue, {"spec": {"stopPolicy": policy}})


def _runs(job: Job) -> bool:
    return job.is_admitted and not job.body["spec"].get("suspend", False)


def remove(lab: Lab, job: Job) -> None:
    """Delete a job, and wait until its pods are gone too."""
    job.delete()
    lab.processes.wait_until(lambda: job.is_gone, f"the end of {job.name}", _PATIENCE)


def _hostile_changes(lab: Lab, sample: Sample, job: Job, state: str) -> Iterator[Try]:
    """Yield changes to a job, and to what Trainer keeps beside it."""
    body, at, user = job.body, sample.space.team.at, as_user(lab.api, sample.space)
    for told, change, words in hostile_changes(sample, body):
        yield Try(f"{state}: {told}", partial(user.patch, body, change, dry_run=True), at, words)
    for who, api in {"its user": user, "an administrator": lab.api}.items():
        for policy, words in {"Orphan": ORPHAN, "Foreground": FOREGROUND}.items():
            request = partial(api.delete, body, policy, dry_run=True)
            yield Try(f"{state}: deleted by {who} with {policy}", request, at, words)
    for name in _config_maps_of(lab, job):
        of_trainer = config_map(sample.space, name)
        yield Try(
            f"{state}: {name} changed",
            partial(user.patch, of_trainer, {"data": {}}, dry_run=True),
            at,
            RESERVED,
        )
        yield Try(
            f"{state}: {name} deleted", partial(user.delete, of_trainer, dry_run=True), at, RESERVED
        )


def _good_changes(lab: Lab, sample: Sample, job: Job, state: str) -> Iterator[Try]:
    """Yield what its user may do, and the controllers."""
    body, at, user = job.body, sample.space.team.at, as_user(lab.api, sample.space)
    label = {"metadata": {"labels": {"mine": "x"}}}
    yield Try(f"{state}: a label of its own", partial(user.patch, body, label, dry_run=True), at)
    yield Try(f"{state}: deleted", partial(user.delete, body, dry_run=True), at)
    other = config_map(sample.space, "mine")
    yield Try(f"{state}: another ConfigMap", partial(user.apply, other, dry_run=True), at)
    suspended = {"spec": {"suspend": not body["spec"].get("suspend", False)}}
    for account in sample.space.cluster.release.controllers:
        request = partial(as_account(lab.api, account).patch, body, suspended, dry_run=True)
        yield Try(f"{state}: suspended or not by {account}", request, at)


def _config_maps_of(lab: Lab, job: Job) -> list[str]:
    """Return the names of what Trainer keeps beside a job."""
    uid = job.body["metadata"]["uid"]
    found = (each["metadata"] for each in lab.api.list("v1", "ConfigMap", job.namespace))
    return [
        each["name"]
        for each in found
        if any(own["uid"] == uid for own in each.get("ownerReferences", []))
    ]


def config_map(space: Space, name: str = "rehearsal") -> Body:
    """Return an empty ConfigMap of a namespace."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": space.namespace},
    }


def as_account(api: Api, account: str) -> Api:
    """Return the API as a service account sees it."""
    namespace = account.split(":")[2]
    groups = (
        "system:serviceaccounts",
        f"system:serviceaccounts:{namespace}",
        "system:authenticated",
    )
    return api.acting(account, groups)


def _try_closed(lab: Lab, sample: Sample, manifest: Manifest, closed: Tries) -> None:
    """Take a namespace's limits away, then its place in the list of open ones; put back what was there."""
    request = partial(as_user(lab.api, sample.space).create, manifest.body, dry_run=True)
    name, home = sample.space.namespace, sample.space.cluster.system_namespace

    def closes(told: str, words: str) -> None:
        lab.processes.waited(lambda: words in str(refusal(request)), _PATIENCE)
        closed.make([Try(f"{name} {told}", request, manifest.at, words)])

    limits = lab.api.get("v1", "ConfigMap", sample.space.limits_name, home)
    lab.api.delete(limits)
    try:
        closes("without its limits", NO_PARAMETERS)
    finally:
        lab.api.apply(as_applied(limits))
    listed = lab.api.get("v1", "ConfigMap", "admitted-namespaces", home)
    others = [each for each in listed["data"]["namespaces"].split() if each != name]
    lab.api.patch(listed, {"data": {"namespaces": " ".join(others)}})
    try:
        closes("out of the list of open namespaces", CLOSED)
    finally:
        lab.api.apply(as_applied(listed))
    lab.processes.wait_until(lambda: not refusal(request), f"the opening of {name}", _PATIENCE)
