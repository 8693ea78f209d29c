"""Check that tenants take no name of the tree, and that no controller takes an object of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from trainyard.model import names, reserved
from trainyard.model.manifest import Manifest
from trainyard.model.space import Sample, Space
from trainyard_rehearsal.checks.access_requests import claim_spec, config_map
from trainyard_rehearsal.checks.job_batch import delete_and_wait
from trainyard_rehearsal.checks.jobs import Job, as_user, submit, with_name
from trainyard_rehearsal.checks.new_roles import wait_until_permitted
from trainyard_rehearsal.checks.request_cases import RequestCase, RequestTally
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.job_policies import JobPolicies
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.outcome import Failure, Outcome, counted

JOB_NAME = "no job can be named"
RESERVED = "only the platform's delivery gives the name"
OURS = "is the platform's: only its delivery changes it"
NO_JOBS = "is not that of a job"
_NETWORKING = "networking.k8s.io/v1"
_RBAC = "rbac.authorization.k8s.io"
_EDITOR = "network-editor@example.com"
_JOB = "rehearsal-policy"
_PATIENCE = 60.0


def check_taken_names(lab: Lab, samples: Sequence[tuple[Sample, Manifest]]) -> Iterator[Outcome]:
    """Take names of the tree as members, and its NetworkPolicies as those who may write some.

    Args:
        lab: with the tree applied.
        samples: sample jobs of the tree; one of each namespace is tried.
    """
    one_each = {sample.space.namespace: (sample, manifest) for sample, manifest in samples}
    tally, policies = RequestTally(), RequestTally()
    for sample, manifest in one_each.values():
        tally.send(_jobs(lab, sample, manifest.body))
        tally.send(_objects(lab, sample.space))
        _send_edits(lab, sample.space, policies)
    yield tally.outcome("taken names refused")
    yield policies.outcome("network policies kept")
    if lab.job_policies:
        yield _check_job_policies(lab, lab.job_policies, list(one_each.values()))


def _jobs(lab: Lab, sample: Sample, body: Body) -> Iterator[RequestCase]:
    """Yield jobs with each name that no job may have, and one with an ordinary name."""
    user, at = as_user(lab.api, sample.space), sample.space.team.at
    patterns = reserved.job_names(lab.plan.site)
    found = {pattern.replace("*", "x"): JOB_NAME for pattern in patterns}
    if lab.job_policies:
        found |= {policy["metadata"]["name"]: JOB_NAME for policy in _policies(lab, sample.space)}
    for name, refusal in {**found, _JOB: ""}.items():
        request = partial(user.create, with_name(body, name), dry_run=True)
        yield RequestCase(f"{sample.space.namespace}: TrainJob {name}", request, at, refusal)


def _objects(lab: Lab, space: Space) -> Iterator[RequestCase]:
    """Yield ConfigMaps and claims with names that the tree has, and may have later."""
    site, at = lab.plan.site, space.team.at
    later = f"{names.RESERVED_PREFIX}x"
    user = as_user(lab.api, space)
    for name in (*reserved.config_maps(site), later):
        request = partial(user.create, config_map(space, name), dry_run=True)
        yield RequestCase(f"{space.namespace}: ConfigMap {name}", request, at, RESERVED)
    if not (space.team.groups.get("admin") and space.claimable_classes):
        return
    admin = as_user(lab.api, space, "admin")
    for name in (*reserved.claims(site), later):
        claim = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": name, "namespace": space.namespace},
            "spec": claim_spec(space.claimable_classes[0]),
        }
        request = partial(admin.create, claim, dry_run=True)
        yield RequestCase(f"{space.namespace}: claim {name}", request, at, RESERVED)


def _send_edits(lab: Lab, space: Space, tally: RequestTally) -> None:
    """Change NetworkPolicies as somebody who may write all of the namespace, and as Trainer."""
    binding = {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "rehearsal-network-editor", "namespace": space.namespace},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": "admin"},
        "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": _EDITOR}],
    }
    of_others = {
        "apiVersion": _NETWORKING,
        "kind": "NetworkPolicy",
        "metadata": {"name": "rehearsal-of-others", "namespace": space.namespace},
        "spec": {"podSelector": {}, "policyTypes": ["Ingress"]},
    }
    for body in (binding, of_others):
        lab.api.apply(body)
    editor = lab.api.acting(_EDITOR, ["system:authenticated"])
    wait_until_permitted(lab, editor, "patch", "configmaps", space.namespace)
    tally.send(_edits(lab, editor, space))
    if lab.job_policies:
        tally.send(_replacements(lab, lab.job_policies, space, of_others))
    for body in (binding, of_others):
        lab.api.delete(body)


def _edits(lab: Lab, editor: Api, space: Space) -> Iterator[RequestCase]:
    change = {"metadata": {"labels": {"app.kubernetes.io/managed-by": "me"}}}
    for policy in _policies(lab, space):
        display = f"{space.namespace}: NetworkPolicy {policy['metadata']['name']}"
        at = space.team.at
        patch = partial(editor.patch, policy, change, dry_run=True)
        yield RequestCase(f"{display} changed", patch, at, OURS)
        yield RequestCase(f"{display} deleted", partial(_delete, editor, policy), at, OURS)
        again = partial(lab.api.patch, policy, change, dry_run=True)
        yield RequestCase(f"{display} changed by an administrator", again, at)


def _delete(api: Api, body: Body) -> None:
    api.delete(body, dry_run=True)


def _replacements(
    lab: Lab, job_policies: JobPolicies, space: Space, of_others: Body
) -> Iterator[RequestCase]:
    """Yield what Trainer does for a job with the name of each policy, and of somebody else's."""
    found = [(policy, OURS) for policy in _policies(lab, space)]
    for policy, refusal in (*found, (of_others, NO_JOBS)):
        metadata = {"name": policy["metadata"]["name"], "namespace": space.namespace, "uid": "0"}
        request = partial(job_policies.reconcile, {"metadata": metadata}, dry_run=True)
        display = f"{space.namespace}: Trainer replaces NetworkPolicy {metadata['name']}"
        yield RequestCase(display, request, space.team.at, refusal)


def _policies(lab: Lab, space: Space) -> list[Body]:
    """Return the tree's NetworkPolicies of a namespace."""
    ours = "app.kubernetes.io/managed-by=trainyard"
    return lab.api.list(_NETWORKING, "NetworkPolicy", space.namespace, ours)


def _check_job_policies(
    lab: Lab, job_policies: JobPolicies, samples: Sequence[tuple[Sample, Manifest]]
) -> Outcome:
    """Check that Trainer writes the policy of an honest job, and none of the tree's.

    A job with such a name can be older than the policy that refuses it.
    """
    failures: list[Failure] = []
    for sample, manifest in samples:
        failures += _new_job(lab, job_policies, sample, manifest)
        failures += _old_job(lab, job_policies, sample, manifest)
    return counted("policies of jobs written", 2 * len(samples), failures)


def _new_job(
    lab: Lab, job_policies: JobPolicies, sample: Sample, manifest: Manifest
) -> Iterator[Failure]:
    """Submit a job with an ordinary name."""
    namespace = sample.space.namespace
    job = submit(lab.api, with_name(manifest.body, _JOB), sample.space)
    found = partial(lab.api.find, _NETWORKING, "NetworkPolicy", _JOB, namespace)
    if not lab.processes.waited(lambda: bool(found()), _PATIENCE):
        words = job_policies.refusals.get((namespace, _JOB), "Trainer says nothing")
        yield Failure(f"{namespace}: policy of job {_JOB}", words, manifest.at)
    delete_and_wait(lab, job)


def _old_job(
    lab: Lab, job_policies: JobPolicies, sample: Sample, manifest: Manifest
) -> Iterator[Failure]:
    """Create a job with the name of a policy as a controller, which the limits don't hold."""
    namespace, name = sample.space.namespace, names.NETWORK_POLICIES[0]
    account = sample.space.cluster.release.controllers[0]
    exempt = lab.api.acting(account, ["system:masters"])
    policy = partial(lab.api.get, _NETWORKING, "NetworkPolicy", name, namespace)
    before = policy()
    exempt.create(with_name(manifest.body, name))
    is_refused = partial(job_policies.refusals.__contains__, (namespace, name))
    if not lab.processes.waited(is_refused, _PATIENCE) or policy()["spec"] != before["spec"]:
        words = job_policies.refusals.get((namespace, name), "Trainer was not refused")
        yield Failure(f"{namespace}: policy {name} of the tree", words, manifest.at)
    delete_and_wait(lab, Job(lab.api, namespace, name))
