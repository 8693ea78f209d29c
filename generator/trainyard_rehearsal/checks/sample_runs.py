"""Check that every sample job runs as its profile describes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, product

from trainyard.model.fabric import DeviceFabric
from trainyard.model.lookup import mapping, mappings
from trainyard.model.manifest import Manifest
from trainyard.model.nvlink import CLIQUE, DOMAIN
from trainyard.model.quantity import format_amount, parse_amount
from trainyard.model.space import Grant, Sample, Space
from trainyard_rehearsal.checks.jobs import Job, Pod, conditions, submit
from trainyard_rehearsal.checks.switches import node_labels, scattered, unordered_ranks
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.control_plane.refusal import Refused
from trainyard_rehearsal.outcome import Failure, Outcome, counted

_NETWORKS = "k8s.v1.cni.cncf.io/networks"
_PATIENCE = 120.0
"""Seconds to wait for what controllers do in less than five."""


def check_sample_jobs(lab: Lab, samples: Sequence[tuple[Sample, Manifest]]) -> Iterator[Outcome]:
    """Run every sample job.

    Args:
        lab: with the tree applied.
        samples: the sample jobs of the tree.
    """
    failures = [failure for sample, manifest in samples for failure in _run(lab, sample, manifest)]
    yield counted("sample jobs run", len(samples), failures)


def _run(lab: Lab, sample: Sample, manifest: Manifest) -> Iterator[Failure]:
    """Submit a sample, run it until it ends, and delete it."""
    try:
        job = submit(lab.api, manifest.body, sample.space)
    except Refused as refused:
        yield Failure(manifest.path, str(refused), manifest.at)
        return
    try:
        for problem in _problems(lab, job, sample):
            yield Failure(manifest.path, problem, manifest.at)
    finally:
        job.delete()


def _problems(lab: Lab, job: Job, sample: Sample) -> Iterator[str]:
    """Yield what goes wrong with a submitted job; a step that never runs is the last problem."""
    if problem := wait_until_running(lab, job, sample):
        yield problem
        return
    yield from _differences(lab, job, sample)
    job.finish("launcher" if sample.launch.runtime.launcher.mpi else "node")
    if not lab.processes.waited(lambda: job.has_finished, _PATIENCE):
        yield f"does not end when its last pods do: {_describe_pods(job)}"


def wait_until_running(lab: Lab, job: Job, sample: Sample) -> str:
    """Wait until all pods of a job run, and finish the steps before them.

    Returns:
        What does not run; empty when everything does.
    """
    if not lab.processes.waited(lambda: job.is_admitted, _PATIENCE):
        return f"not admitted: {job.waiting_reason or 'Kueue says nothing'}"
    for step in sample.launch.runtime.initializers:
        if not lab.processes.waited(partial(_runs, job, step.name, 1), _PATIENCE):
            return f"step {step.name} does not run: {_describe_pods(job)}"
        job.finish(step.name)
    for role, count in pods_by_role(sample.grant, sample.nodes).items():
        if not lab.processes.waited(partial(_runs, job, role, count), _PATIENCE):
            return f"{count} pods of role {role} do not run: {_describe_pods(job)}"
    return ""


def pods_by_role(grant: Grant, nodes: int) -> dict[str, int]:
    """Return how many pods of each role a job has: a launcher with ranks is one of the nodes."""
    runtime = grant.launch.runtime
    if not runtime.launcher.mpi:
        return {"node": nodes}
    if runtime.small_launcher:
        return {"node": nodes, "launcher": 1}
    return {"node": nodes - 1, "launcher": 1} if nodes > 1 else {"launcher": 1}


def _runs(job: Job, role: str, count: int) -> bool:
    return sum(pod.role == role and pod.phase == "Running" for pod in job.pods) == count


def _describe_pods(job: Job) -> str:
    pods = (f"{pod.name} {pod.phase} {_false_conditions(pod)}".strip() for pod in job.pods)
    return ", ".join(pods) or "no pod"


def _false_conditions(pod: Pod) -> str:
    return "; ".join(
        str(condition.get("message", ""))
        for condition in conditions(pod.body)
        if condition["status"] == "False"
    )


def _differences(lab: Lab, job: Job, sample: Sample) -> Iterator[str]:
    """Compare a running job with the profile: flavors, nodes, order, amounts and networks."""
    runtime = sample.launch.runtime
    pods = [pod for pod in job.pods if pod.role in runtime.roles]
    ranks = [pod for pod in pods if pod.role in runtime.rank_roles]
    flavors = _flavors(job)
    yield from _wrong_flavors(lab, flavors, sample)
    yield from _wrong_nodes(lab, flavors, pods, sample)
    yield from _early_launcher(pods)
    yield from unordered_ranks(lab, ranks, sample)
    yield from scattered(lab, ranks, sample)
    yield from _wrong_requests(ranks, sample)
    yield from _uncounted(job, sample)
    yield from _missing_networks(lab, pods, sample.space)
    yield from _wrong_interfaces(ranks, sample)
    if sample.launch.claims_nvlink:
        yield from _apart(lab, ranks, sample)


def _wrong_flavors(lab: Lab, flavors: set[str], sample: Sample) -> Iterator[str]:
    expected = _expected_flavors(lab, sample)
    if not flavors <= expected:
        yield f"admitted with the flavors {sorted(flavors)}, not of {sorted(expected)}"


def _flavors(job: Job) -> set[str]:
    """Return the flavors that Kueue admitted a job with."""
    assignments = job.workload["status"]["admission"]["podSetAssignments"]
    return {name for assignment in assignments for name in assignment.get("flavors", {}).values()}


def _expected_flavors(lab: Lab, sample: Sample) -> set[str]:
    """Return the pools whose hardware has the labels that a launch selects."""
    selected = sample.launch.node_selector.items()
    pools = lab.plan.site.cluster.pools
    return {pool.name for pool in pools if selected <= pool.labels.items()}


def _wrong_nodes(lab: Lab, flavors: set[str], pods: Sequence[Pod], sample: Sample) -> Iterator[str]:
    """Yield pods on nodes of another flavor, or without the labels that the launch selects."""
    labels = node_labels(lab)
    selected = sample.launch.node_selector.items()
    for pod in pods:
        pool = pod.node.rpartition("-")[0]
        if pool not in flavors or not selected <= labels[pod.node].items():
            yield f"{pod.name} is on {pod.node}, outside {sorted(flavors)}"


def _early_launcher(pods: Sequence[Pod]) -> Iterator[str]:
    """Report a launcher that was created before a node's pod; the launcher is the first pod."""
    if not any(pod.role == "launcher" for pod in pods):
        return
    launcher, *others = pods
    if launcher.created < max((pod.created for pod in others), default=""):
        yield f"the launcher was made at {launcher.created}, before the last node"


def _wrong_requests(pods: Sequence[Pod], sample: Sample) -> Iterator[str]:
    expected = {
        name: format_amount(name, amount) for name, amount in sample.launch.per_node.items()
    }
    for pod in pods:
        (container,) = pod.body["spec"]["containers"]
        requests = container["resources"]["requests"]
        if requests != expected:
            yield f"{pod.name} asks for {requests}, not {expected}"


def _uncounted(job: Job, sample: Sample) -> Iterator[str]:
    """Yield what Kueue counts of ranks, where it is not what their pods request."""
    for assignment in mappings(job.workload, "status", "admission", "podSetAssignments"):
        if assignment["name"] not in sample.launch.runtime.rank_roles:
            continue
        used = mapping(assignment, "resourceUsage")
        for name, amount in sample.launch.per_node.items():
            wanted = parse_amount(format_amount(name, amount)) * int(assignment["count"])
            if parse_amount(str(used.get(name, 0))) != wanted:
                yield f"Kueue counts {used.get(name, 'no')} {name} for its pods, not {wanted}"


def _wrong_interfaces(pods: Sequence[Pod], sample: Sample) -> Iterator[str]:
    """Yield pods whose annotation does not list an interface in each network of their fabric."""
    fabric = sample.launch.rdma
    if not isinstance(fabric, DeviceFabric) or fabric.provider.annotations is None:
        return
    key, expected = fabric.provider.annotations.interfaces, ["default", *fabric.networks]
    for pod in pods:
        listed = json.loads(pod.body["metadata"].get("annotations", {}).get(key, "[]"))
        networks = [each["network"] for each in listed]
        if networks != expected:
            yield f"{pod.name} has interfaces in {networks}, not {expected}"


def _apart(lab: Lab, pods: Sequence[Pod], sample: Sample) -> Iterator[str]:
    """Yield pods without a claim on their node's channel, and ranks in several NVLink domains."""
    claims = lab.api.list("resource.k8s.io/v1", "ResourceClaim", sample.space.namespace)
    given = set(chain.from_iterable(map(_devices, claims)))
    for pod in pods:
        (container,) = pod.body["spec"]["containers"]
        wanted = [claim["name"] for claim in container["resources"].get("claims", [])]
        if wanted != [DOMAIN] or (pod.name, pod.node) not in given:
            yield f"{pod.name} claims {wanted}, and has no channel of {pod.node}"
    labels = node_labels(lab)
    if len({labels[pod.node][CLIQUE] for pod in pods}) > 1:
        yield "ranks are in several NVLink domains"


def _devices(claim: Body) -> Iterator[tuple[str, str]]:
    """Yield each pod that a claim is reserved for, with the pool of each device: its node."""
    status = claim.get("status") or {}
    results = mappings(status, "allocation", "devices", "results")
    for pod, device in product(mappings(status, "reservedFor"), results):
        yield str(pod["name"]), str(device["pool"])


def _missing_networks(lab: Lab, pods: Sequence[Pod], space: Space) -> Iterator[str]:
    """Yield networks of the pods' annotations that don't exist in their namespace.

    Those of a fabric's owner are declared, and none of the tree.
    """
    networks: set[str] = set()
    of_others = {fabric.network for fabric in lab.plan.site.cluster.device_fabrics}
    for pod in pods:
        text = pod.body["metadata"].get("annotations", {}).get(_NETWORKS, "")
        networks |= set(text.split(",")) - {""}
    for name in sorted(networks - of_others):
        if not _network_exists(lab, space, name):
            yield f"no network {name}"


def _network_exists(lab: Lab, space: Space, name: str) -> bool:
    """Return whether there is a network, or the SriovNetwork that the operator makes it from."""
    try:
        return bool(
            lab.api.get("k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition", name, space.namespace)
        )
    except Refused:
        return name in _sriov_networks(lab, space)


def _sriov_networks(lab: Lab, space: Space) -> Iterable[str]:
    release = lab.plan.site.cluster.release
    found = lab.api.list("sriovnetwork.openshift.io/v1", "SriovNetwork", release.sriov_namespace)
    return {
        each["metadata"]["name"]
        for each in found
        if each["spec"].get("networkNamespace") == space.namespace
    }
