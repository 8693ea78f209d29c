"""Check that admission policies refuse bad requests with a reason, and accept all others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial

from trainyard.model.manifest import Manifest
from trainyard.model.space import Sample
from trainyard_rehearsal.checks.access_requests import config_map
from trainyard_rehearsal.checks.harmless import harmless_jobs
from trainyard_rehearsal.checks.hostile import hostile_changes, hostile_jobs, jobs_over_limits
from trainyard_rehearsal.checks.job_batch import delete_and_wait
from trainyard_rehearsal.checks.jobs import KUEUE, Job, as_account, as_user, submit
from trainyard_rehearsal.checks.refusals import (
    CLOSED,
    DENIED,
    FOREGROUND,
    NO_PARAMETERS,
    ORPHAN,
)
from trainyard_rehearsal.checks.request_cases import RequestCase, RequestTally, refusal_of
from trainyard_rehearsal.checks.variants import Variant, as_applied
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.outcome import Failure, Outcome, counted

_POLICIES = "admissionregistration.k8s.io/v1"
_POLICY = "ValidatingAdmissionPolicy"

_PATIENCE = 120.0


def check_admission(lab: Lab, samples: Sequence[tuple[Sample, Manifest]]) -> Iterator[Outcome]:
    """Send hostile jobs and changes, harmless ones, and jobs of a namespace without its limits.

    Args:
        lab: with the tree applied, no job running.
        samples: the sample jobs of the tree.
    """
    harmless, hostile = RequestTally(), RequestTally()
    changes, closed = RequestTally(), RequestTally()
    yield _check_types(lab)
    for sample, manifest in samples:
        harmless.send(_jobs(lab, sample, manifest, harmless_jobs))
        hostile.send(_jobs(lab, sample, manifest, jobs_over_limits))
    for sample, manifest in _one_of_each_launcher(samples):
        hostile.send(_jobs(lab, sample, manifest, hostile_jobs))
    yield hostile.outcome("hostile jobs refused")
    for sample, manifest in _one_of_each_launcher(samples):
        for state, job in _waiting_then_running(lab, sample, manifest):
            changes.send(_hostile_changes(lab, sample, job, state))
            harmless.send(_harmless_changes(lab, sample, job, state))
    yield changes.outcome("hostile changes refused")
    for sample, manifest in _last_of_each_namespace(samples):
        _check_without_limits(lab, sample, manifest, closed)
    yield closed.outcome("jobs without limits refused")
    yield harmless.outcome("harmless requests accepted")


def _one_of_each_launcher(
    samples: Sequence[tuple[Sample, Manifest]],
) -> list[tuple[Sample, Manifest]]:
    first = {sample[0].launch.runtime.roles: sample for sample in reversed(samples)}
    return list(first.values())


def _last_of_each_namespace(
    samples: Sequence[tuple[Sample, Manifest]],
) -> list[tuple[Sample, Manifest]]:
    last = {sample[0].space.namespace: sample for sample in samples}
    return list(last.values())


def _check_types(lab: Lab) -> Outcome:
    """Check that the API server's type checker has no warning about an expression."""
    failures = []
    policies = lab.api.list(_POLICIES, _POLICY)
    for body in policies:
        name = body["metadata"]["name"]
        if warnings := _type_warnings(lab, name):
            failures.append(Failure(name, str(warnings), lab.plan.site.cluster.at))
    return counted("policies without a warning", len(policies), failures)


def _type_warnings(lab: Lab, name: str) -> list[object]:
    if not lab.processes.waited(partial(_is_type_checked, lab.api, name), _PATIENCE):
        return ["never type-checked"]
    status = lab.api.get(_POLICIES, _POLICY, name)["status"]
    return list(status.get("typeChecking", {}).get("expressionWarnings", []))


def _is_type_checked(api: Api, name: str) -> bool:
    body = api.get(_POLICIES, _POLICY, name)
    status = body.get("status") or {}
    is_current = status.get("observedGeneration") == body["metadata"]["generation"]
    return is_current and "typeChecking" in status


def _jobs(
    lab: Lab,
    sample: Sample,
    manifest: Manifest,
    variants: Callable[[Sample, Body], Iterator[Variant]],
) -> Iterator[RequestCase]:
    user = as_user(lab.api, sample.space)
    for variant in variants(sample, manifest.body):
        request = partial(user.create, variant.body, dry_run=True)
        yield RequestCase(
            f"{manifest.name}: {variant.display}", request, manifest.at, variant.refusal
        )


def _waiting_then_running(
    lab: Lab, sample: Sample, manifest: Manifest
) -> Iterator[tuple[str, Job]]:
    """Yield a job while it waits in a held queue, then while it runs."""
    queue = next(
        each for each in sample.space.queues if each.node_class == sample.launch.hardware.node_class
    )
    body = lab.api.get(KUEUE, "ClusterQueue", queue.name)
    with ExitStack() as stack:
        stack.callback(_set_stop_policy, lab.api, body, body["spec"]["stopPolicy"])
        _set_stop_policy(lab.api, body, "Hold")
        job = submit(lab.api, manifest.body, sample.space)
        stack.callback(delete_and_wait, lab, job)
        lab.processes.wait_until(
            lambda: bool(job.workload), f"a Workload for {job.name}", _PATIENCE
        )
        yield f"{job.name}, waiting", job
        _set_stop_policy(lab.api, body, body["spec"]["stopPolicy"])
        lab.processes.wait_until(lambda: _runs(job), f"the start of {job.name}", _PATIENCE)
        yield f"{job.name}, running", job


def _set_stop_policy(api: Api, queue: Body, policy: str) -> None:
    api.patch(queue, {"spec": {"stopPolicy": policy}})


def _runs(job: Job) -> bool:
    return job.is_admitted and not job.body["spec"].get("suspend", False)


def _hostile_changes(lab: Lab, sample: Sample, job: Job, state: str) -> Iterator[RequestCase]:
    """Yield changes to a job and its ConfigMaps of Trainer; all must be refused."""
    body, at, user = job.body, sample.space.team.at, as_user(lab.api, sample.space)
    for display, change, refusal in hostile_changes(sample, body):
        patch = partial(user.patch, body, change, dry_run=True)
        yield RequestCase(f"{state}: {display}", patch, at, refusal)
    for who, api in {"its user": user, "an administrator": lab.api}.items():
        for policy, refusal in {"Orphan": ORPHAN, "Foreground": FOREGROUND}.items():
            delete = partial(api.delete, body, policy, dry_run=True)
            yield RequestCase(f"{state}: deleted by {who} with {policy}", delete, at, refusal)
    for name in _config_maps_of(lab, job):
        of_trainer = config_map(sample.space, name)
        patch = partial(user.patch, of_trainer, {"data": {}}, dry_run=True)
        yield RequestCase(f"{state}: {name} changed", patch, at, DENIED)
        delete = partial(user.delete, of_trainer, dry_run=True)
        yield RequestCase(f"{state}: {name} deleted", delete, at, DENIED)


def _harmless_changes(lab: Lab, sample: Sample, job: Job, state: str) -> Iterator[RequestCase]:
    """Yield changes that the job's user and the controllers may make."""
    body, at, user = job.body, sample.space.team.at, as_user(lab.api, sample.space)
    label = {"metadata": {"labels": {"mine": "x"}}}
    patch = partial(user.patch, body, label, dry_run=True)
    yield RequestCase(f"{state}: a label of its own", patch, at)
    yield RequestCase(f"{state}: deleted", partial(user.delete, body, dry_run=True), at)
    other = config_map(sample.space, "mine")
    yield RequestCase(f"{state}: another ConfigMap", partial(user.apply, other, dry_run=True), at)
    suspended = {"spec": {"suspend": not body["spec"].get("suspend", False)}}
    for account in sample.space.cluster.release.controllers:
        request = partial(as_account(lab.api, account).patch, body, suspended, dry_run=True)
        yield RequestCase(f"{state}: suspend changed by {account}", request, at)


def _config_maps_of(lab: Lab, job: Job) -> list[str]:
    """Return the names of the ConfigMaps that Trainer makes for a job."""
    uid = job.body["metadata"]["uid"]
    found = []
    for body in lab.api.list("v1", "ConfigMap", job.namespace):
        owners = body["metadata"].get("ownerReferences", [])
        if any(owner["uid"] == uid for owner in owners):
            found.append(body["metadata"]["name"])
    return found


def _check_without_limits(
    lab: Lab, sample: Sample, manifest: Manifest, closed: RequestTally
) -> None:
    """Submit a job without the namespace's limits, then while the namespace is not open."""
    request = partial(as_user(lab.api, sample.space).create, manifest.body, dry_run=True)
    name, home = sample.space.namespace, sample.space.cluster.system_namespace
    limits = lab.api.get("v1", "ConfigMap", sample.space.limits_name, home)
    without_limits = RequestCase(f"{name} without its limits", request, manifest.at, NO_PARAMETERS)
    lab.api.delete(limits)
    with _restored(lab.api, limits):
        _send_when_refused(lab, without_limits, closed)
    listed = lab.api.get("v1", "ConfigMap", "admitted-namespaces", home)
    others = [each for each in listed["data"]["namespaces"].split() if each != name]
    unlisted = RequestCase(
        f"{name} out of the list of open namespaces", request, manifest.at, CLOSED
    )
    lab.api.patch(listed, {"data": {"namespaces": "\n".join(others)}})
    with _restored(lab.api, listed):
        _send_when_refused(lab, unlisted, closed)
    lab.processes.wait_until(lambda: not refusal_of(request), f"the opening of {name}", _PATIENCE)


@contextmanager
def _restored(api: Api, body: Body) -> Iterator[None]:
    """Apply an object again afterwards."""
    try:
        yield
    finally:
        api.apply(as_applied(body))


def _send_when_refused(lab: Lab, case: RequestCase, tally: RequestTally) -> None:
    """Wait until a request is refused as expected, then count it."""
    lab.processes.waited(lambda: case.refusal in str(refusal_of(case.request)), _PATIENCE)
    tally.send([case])
