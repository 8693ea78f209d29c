"""Whether what was applied lives: queues are active, and every sample job runs as its profile says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from trainyard.diagnostics import Pointer
from trainyard.model.manifest import Manifest
from trainyard.model.quantity import format_amount
from trainyard.model.space import Grant, Sample, Space
from trainyard_rehearsal.checks.jobs import KUEUE, Job, Pod, conditions, submit
from trainyard_rehearsal.control_plane.api import Api, Refused
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.outcome import Failure, Outcome, counted

_NETWORKS = "k8s.v1.cni.cncf.io/networks"
_PATIENCE = 120.0
"""Seconds for what controllers do in less than five."""


def check_life(lab: Lab, samples: Sequence[tuple[Sample, Manifest]]) -> Iterator[Outcome]:
    """Run every sample job.

    Args:
        lab: with the tree applied.
        samples: the jobs that the tree has to copy.
    """
    failures = [failure for sample, manifest in samples for failure in _run(lab, sample, manifest)]
    yield counted("sample jobs run", len(samples), failures)


def check_queues(lab: Lab) -> Iterator[Outcome]:
    """Wait for the queues of teams that are not being retired.

    Args:
        lab: with the tree applied.
    """
    tenants = [tenant for tenant in lab.plan.site.tenants if tenant.team.state == "active"]
    cluster_queues = [
        ("ClusterQueue", queue.name, "", tenant.team.at)
        for tenant in tenants
        for queue in tenant.queues
    ]
    local_queues = [
        ("LocalQueue", queue.node_class, space.namespace, tenant.team.at)
        for tenant in tenants
        for space in tenant.spaces
        for queue in space.queues
    ]
    wanted = {"cluster queues active": cluster_queues, "local queues active": local_queues}
    states = partial(_states, lab.api, [queue for queues in wanted.values() for queue in queues])
    lab.processes.waited(lambda: not any(states().values()), _PATIENCE)
    words = states()
    for promise, queues in wanted.items():
        failures = [
            Failure(_queue(*each[:3]), words[each], each[3]) for each in queues if words[each]
        ]
        yield counted(promise, len(queues), failures)


_Queue = tuple[str, str, str, Pointer]
"""Kind, name, namespace, and where its team is stated."""


def _queue(kind: str, name: str, namespace: str) -> str:
    return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"


def _states(api: Api, queues: Sequence[_Queue]) -> dict[_Queue, str]:
    """Return what each queue says of itself, as long as it is not active."""
    return {each: _inactive(api, *each[:3]) for each in queues}


def _inactive(api: Api, kind: str, name: str, namespace: str) -> str:
    try:
        found = conditions(api.get(KUEUE, kind, name, namespace))
    except Refused as refused:
        return str(refused)
    active = next((each for each in found if each["type"] == "Active"), {})
    if active.get("status") == "True":
        return ""
    return f"{active['reason']}: {active['message']}" if active else "no condition Active"


def _run(lab: Lab, sample: Sample, manifest: Manifest) -> Iterator[Failure]:
    """Run a sample from its submission to its end."""
    try:
        job = submit(lab.api, manifest.body, sample.space)
    except Refused as refused:
        yield Failure(manifest.path, str(refused), manifest.at)
        return
    try:
        yield from (
            Failure(manifest.path, words, manifest.at) for words in _watch(lab, job, sample)
        )
    finally:
        job.delete()


def _watch(lab: Lab, job: Job, sample: Sample) -> Iterator[str]:
    """Yield what is wrong with a job on its way; a step that never comes ends it."""
    if words := brought_up(lab, job, sample):
        yield words
        return
    yield from _judge(lab, job, sample)
    job.end("launcher" if sample.launch.runtime.launcher.mpi else "node")
    if not lab.processes.waited(lambda: job.is_over, _PATIENCE):
        yield f"does not end when its last pods do: {_pods_told(job)}"


def brought_up(lab: Lab, job: Job, sample: Sample) -> str:
    """Wait until all pods of a job run, ending the steps before them; return what does not come, if anything."""
    if not lab.processes.waited(lambda: job.is_admitted, _PATIENCE):
        return f"not admitted: {job.waits_because or 'Kueue says nothing'}"
    for step in sample.launch.runtime.initializers:
        if not lab.processes.waited(partial(_runs, job, step.name, 1), _PATIENCE):
            return f"step {step.name} does not run: {_pods_told(job)}"
        job.end(step.name)
    for role, count in roles(sample.grant, sample.nodes).items():
        if not lab.processes.waited(partial(_runs, job, role, count), _PATIENCE):
            return f"{count} pods of role {role} do not run: {_pods_told(job)}"
    return ""


def roles(grant: Grant, nodes: int) -> dict[str, int]:
    """Return how many pods of each role a job has: the launcher is one of the nodes."""
    if grant.launch.runtime.launcher.mpi:
        return {"node": nodes - 1, "launcher": 1}
    return {"node": nodes}


def _runs(job: Job, role: str, count: int) -> bool:
    return sum(pod.role == role and pod.phase == "Running" for pod in job.pods) == count


def _pods_told(job: Job) -> str:
    pods = ", ".join(
        f"{pod.body['metadata']['name']} {pod.phase} {_unscheduled(pod)}".strip()
        for pod in job.pods
    )
    return pods or "no pod"


def _unscheduled(pod: Pod) -> str:
    return "; ".join(
        str(each.get("message", "")) for each in conditions(pod.body) if each["status"] == "False"
    )


def _judge(lab: Lab, job: Job, sample: Sample) -> Iterator[str]:
    """Compare a running job with the profile: flavor, nodes, order, requests, networks."""
    pods = [pod for pod in job.pods if pod.role in {"launcher", "node"}]
    yield from _placement(lab, job, pods, sample)
    yield from _ranks(lab, pods, sample)
    asked = {name: format_amount(name, amount) for name, amount in sample.launch.per_node.items()}
    for pod in pods:
        (container,) = pod.body["spec"]["containers"]
        if container["resources"]["requests"] != asked:
            yield (
                f"{pod.body['metadata']['name']} asks for {container['resources']['requests']}, "
                f"not {asked}"
            )
    annotations = (pod.body["metadata"].get("annotations", {}).get(_NETWORKS, "") for pod in pods)
    networks = {name for text in annotations for name in text.split(",") if name}
    yield from (
        f"no network {name}"
        for name in sorted(networks)
        if not _network_exists(lab, sample.space, name)
    )


def _placement(lab: Lab, job: Job, pods: Sequence[Pod], sample: Sample) -> Iterator[str]:
    """Look whether pods stand on nodes of the flavor, and the flavor is one that the launch is meant for."""
    admission = job.workload["status"]["admission"]
    flavors = {
        name for each in admission["podSetAssignments"] for name in each.get("flavors", {}).values()
    }
    meant = {
        pool.name
        for pool in lab.plan.site.cluster.pools
        if sample.launch.node_selector.items() <= pool.hardware.labels.items()
    }
    if not flavors <= meant:
        yield f"admitted with the flavors {sorted(flavors)}, not of {sorted(meant)}"
    nodes = {
        each["metadata"]["name"]: each["metadata"]["labels"] for each in lab.api.list("v1", "Node")
    }
    for pod in pods:
        pool = pod.node.rpartition("-")[0]
        if (
            pool not in flavors
            or not sample.launch.node_selector.items() <= nodes[pod.node].items()
        ):
            yield f"{pod.body['metadata']['name']} is on {pod.node}, outside {sorted(flavors)}"
    if "launcher" in {pod.role for pod in pods} and pods[0].created < max(
        pod.created for pod in pods[1:]
    ):
        yield f"the launcher was made at {pods[0].created}, before the last node"


def _ranks(lab: Lab, pods: Sequence[Pod], sample: Sample) -> Iterator[str]:
    """Look whether pods below one switch have ranks in a row."""
    fabric = sample.launch.fabric
    if fabric is None:
        return
    labels = {
        each["metadata"]["name"]: each["metadata"]["labels"] for each in lab.api.list("v1", "Node")
    }
    leaves = [labels[pod.node].get(fabric.preferred_level, pod.node) for pod in pods]
    runs = [leaf for i, leaf in enumerate(leaves) if i == 0 or leaves[i - 1] != leaf]
    if twice := [leaf for leaf, count in Counter(runs).items() if count > 1]:
        yield f"ranks are not in order: {', '.join(twice)} stands twice in {leaves}"


def _network_exists(lab: Lab, space: Space, name: str) -> bool:
    """Look for a network, or for the SriovNetwork that the operator makes it of."""
    try:
        return bool(
            lab.api.get("k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition", name, space.namespace)
        )
    except Refused:
        made = _sriov_networks(lab, space)
        return name in made


def _sriov_networks(lab: Lab, space: Space) -> Iterable[str]:
    release = lab.plan.site.cluster.release
    found = lab.api.list("sriovnetwork.openshift.io/v1", "SriovNetwork", release.sriov_namespace)
    return {
        each["metadata"]["name"]
        for each in found
        if each["spec"].get("networkNamespace") == space.namespace
    }
