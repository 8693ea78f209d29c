"""Whether jobs can start: what their pods name and ask for is there, is queued, and fits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tests.audit.capacity import amount
from tests.audit.tree import Document, Tree

_NETWORKS, _GROUP = "k8s.v1.cni.cncf.io/networks", "kueue.x-k8s.io/podset-group-name"
_PREFERRED, _OFFSET = "kueue.x-k8s.io/podset-preferred-topology", "kueue.x-k8s.io/pod-index-offset"


def _jobs(runtime: Document) -> list[tuple[str, dict[str, str], dict[str, Any]]]:
    """Return name, annotations and pod of each replicated job."""
    jobs = runtime.spec["template"]["spec"]["replicatedJobs"]
    templates = [(job["name"], job["template"]["spec"]["template"]) for job in jobs]
    return [
        (name, each.get("metadata", {}).get("annotations", {}), each["spec"])
        for name, each in templates
    ]


def _requests(spec: dict[str, Any]) -> dict[str, Fraction]:
    """Return what the scheduler counts for a pod: all containers together, or the largest init
    container."""
    total: dict[str, Fraction] = {"pods": Fraction(1)}
    for container in spec["containers"]:
        for name, text in container["resources"]["requests"].items():
            total[name] = total.get(name, Fraction(0)) + amount(text)
    for container in spec.get("initContainers", ()):
        for name, text in container["resources"]["requests"].items():
            total[name] = max(total.get(name, Fraction(0)), amount(text))
    return total


def _uses(tree: Tree) -> Iterator[tuple[str, Document, dict[str, str]]]:
    """Yield each namespace with each runtime that its limits let through, and the limits."""
    limits = {each.name: each.body["data"] for each in tree.of("ConfigMap")}
    runtimes = {each.name: each for each in tree.of("ClusterTrainingRuntime")}
    for binding in tree.of("ValidatingAdmissionPolicyBinding"):
        for namespace in tree.namespaces(tree.team_of(binding)) if tree.team_of(binding) else ():
            data = limits[binding.spec["paramRef"]["name"]]
            selected = binding.spec["matchResources"]["namespaceSelector"]["matchLabels"]
            if selected == {"kubernetes.io/metadata.name": namespace}:
                yield from ((namespace, runtimes[name], data) for name in data["runtimes"].split())


def _flavors(tree: Tree, namespace: str, runtime: Document) -> list[dict[str, Any]]:
    """Return what the queue of a namespace gives on the nodes that a runtime selects."""
    spec = _jobs(runtime)[-1][2]
    kind = "gpu" if any(name.endswith("/gpu") for name in _requests(spec)) else "cpu"
    selector = spec.get("nodeSelector", {})
    labels = {each.name: each.spec["nodeLabels"] for each in tree.of("ResourceFlavor")}
    own = [
        each for each in tree.of("LocalQueue") if (each.namespace, each.name) == (namespace, kind)
    ]
    names = {each.spec["clusterQueue"] for each in own}
    queues = [each for each in tree.of("ClusterQueue") if each.name in names]
    groups = [group for queue in queues for group in queue.spec["resourceGroups"]]
    flavors = [flavor for group in groups for flavor in group["flavors"]]
    return [flavor for flavor in flavors if selector.items() <= labels[flavor["name"]].items()]


def _available(flavors: list[dict[str, Any]]) -> dict[str, Fraction]:
    found: dict[str, Fraction] = {}
    for resource in (each for flavor in flavors for each in flavor["resources"]):
        most = amount(resource["nominalQuota"]) + amount(resource.get("borrowingLimit", "0"))
        found[resource["name"]] = found.get(resource["name"], Fraction(0)) + most
    return found


def the_largest_job_fits_its_queue(tree: Tree) -> Iterator[str]:
    """Every resource that its pods ask for is covered, and there is enough: else it waits for ever,
    with no word."""
    for namespace, runtime, limits in _uses(tree):
        available = _available(_flavors(tree, namespace, runtime))
        jobs = _jobs(runtime)
        pods = [(int(limits[f"maxNodes.{runtime.name}"]), _requests(jobs[-1][2]))]
        pods += [(1, _requests(spec)) for name, _, spec in jobs if name.endswith("-initializer")]
        for resource in sorted({name for _, requests in pods for name in requests}):
            wanted = sum(
                (count * requests.get(resource, Fraction(0)) for count, requests in pods),
                Fraction(0),
            )
            if resource not in available:
                yield (
                    f"{namespace}: {runtime.name} asks for {resource}, which no queue of it covers"
                )
            elif wanted > available[resource]:
                yield (
                    f"{namespace}: {runtime.name} asks for {wanted} of {resource}, of "
                    f"{available[resource]}"
                )


def queues_cover_what_they_list(tree: Tree) -> Iterator[str]:
    """Kueue's webhook refuses flavors whose resources are not the covered ones, in their order."""
    flavors = {each.name for each in tree.of("ResourceFlavor")}
    for queue in tree.of("ClusterQueue"):
        for group in queue.spec["resourceGroups"]:
            for flavor in group["flavors"]:
                if [each["name"] for each in flavor["resources"]] != group["coveredResources"]:
                    yield f"{queue.path}: {flavor['name']} does not list the covered resources"
                if flavor["name"] not in flavors:
                    yield f"{queue.path}: no flavor {flavor['name']}"


def pods_attach_to_networks_of_their_namespace(tree: Tree) -> Iterator[str]:
    """Multus fails a pod that names a network which is not there; each one brings the function that
    it is made of."""
    attached = tree.of("NetworkAttachmentDefinition")
    there = {
        (each.namespace, each.name): each.annotation("k8s.v1.cni.cncf.io/resourceName")
        for each in attached
    }
    for each in tree.of("SriovNetwork"):
        there[each.spec["networkNamespace"], each.name] = (
            f"{tree.prefix}/{each.spec['resourceName']}"
        )
    for namespace, runtime, _ in _uses(tree):
        for name, said, spec in _jobs(runtime):
            named = list(filter(None, said.get(_NETWORKS, "").split(",")))
            lost = [each for each in named if (namespace, each) not in there]
            brought = sorted(there.get((namespace, each), "") for each in named)
            asked = sorted(
                each
                for each in _requests(spec)
                if each.startswith(f"{tree.prefix}/") and "_rail_" in each
            )
            if lost or brought != asked:
                yield (
                    f"{runtime.path}: {name} in {namespace} attaches to {lost or named}, and "
                    f"asks for {asked}"
                )


def functions_are_made_where_pods_run(tree: Tree) -> Iterator[str]:
    """Each function that a pod asks for is made by the operator on the nodes of each flavor that it
    may be given."""
    labels = {each.name: each.spec["nodeLabels"] for each in tree.of("ResourceFlavor")}
    made = [
        (f"{tree.prefix}/{each.spec['resourceName']}", each.spec)
        for each in tree.of("SriovNetworkNodePolicy")
    ]
    for namespace, runtime, _ in _uses(tree):
        asked = {
            each for _, _, spec in _jobs(runtime) for each in _requests(spec) if "_rail_" in each
        }
        for flavor in _flavors(tree, namespace, runtime):
            nodes = labels[flavor["name"]].items()
            given = {
                name
                for name, spec in made
                if spec["nodeSelector"].items() <= nodes and spec["isRdma"]
            }
            if asked - given:
                yield f"{runtime.path}: nobody makes {sorted(asked - given)} on {flavor['name']}"


def flavors_lead_to_their_nodes(tree: Tree) -> Iterator[str]:
    """Kueue gives pods the flavor's labels and tolerations: they are the node type's own, its taint
    included."""
    flavors = {each.name: each.spec for each in tree.of("ResourceFlavor")}
    levels = {
        each.name: [level["nodeLabel"] for level in each.spec["levels"]]
        for each in tree.of("Topology")
    }
    for pool, fields in tree.cluster["pools"].items():
        hardware, flavor = tree.hardware[fields.get("hardware", pool)], flavors.get(pool, {})
        taint, tolerated = (
            hardware.get("taint"),
            {each["key"] for each in flavor.get("tolerations", ())},
        )
        if (taint and taint not in tolerated) or (tolerated - {taint}):
            yield f"pool {pool}: taint {taint}, tolerated {sorted(tolerated)}"
        if not flavor.get("nodeLabels") or flavor["nodeLabels"] != hardware.get(
            "labels", flavor["nodeLabels"]
        ):
            yield f"pool {pool}: the flavor selects {flavor.get('nodeLabels')}"
        fabric = fields.get("fabric", "")
        wanted = (
            [*tree.cluster["fabrics"][fabric].get("levels", ()), "kubernetes.io/hostname"]
            if fabric
            else []
        )
        if flavor.get("topologyName", "") != fabric or levels.get(fabric, []) != wanted:
            yield f"pool {pool}: its topology is not that of fabric {fabric or 'none'}"


def pods_are_placed_together(tree: Tree) -> Iterator[str]:
    """A level is one of the topology; launcher and nodes are a group together or not at all,
    counted from 0."""
    levels = {level["nodeLabel"] for each in tree.of("Topology") for level in each.spec["levels"]}
    for runtime in tree.of("ClusterTrainingRuntime"):
        jobs = [
            (name, annotations)
            for name, annotations, _ in _jobs(runtime)
            if not name.endswith("-initializer")
        ]
        asked = {annotations[_PREFERRED] for _, annotations in jobs if _PREFERRED in annotations}
        if asked - levels or len(asked) > 1:
            yield f"{runtime.path}: no level {sorted(asked)}"
        groups = [annotations.get(_GROUP) for _, annotations in jobs]
        offsets = {name: annotations.get(_OFFSET) for name, annotations in jobs}
        grouped = asked and "mpi" in runtime.spec["mlPolicy"] and not tree.openshift
        if groups != (["job"] * 2 if grouped else [None] * len(jobs)):
            yield f"{runtime.path}: groups {groups}"
        if offsets != ({"node": "-1", "launcher": None} if grouped else dict.fromkeys(offsets)):
            yield f"{runtime.path}: offsets {offsets}"


def jobs_to_copy_can_be_submitted(tree: Tree) -> Iterator[str]:
    """Each is of a runtime and queue that its namespace has, and begins with a program that its
    pods have."""
    users = {(namespace, runtime.name): limits for namespace, runtime, limits in _uses(tree)}
    queues = {(each.namespace, each.name) for each in tree.of("LocalQueue")}
    runtimes = {each.name: each for each in tree.of("ClusterTrainingRuntime")}
    for job in tree.of("TrainJob"):
        name, trainer = job.spec["runtimeRef"]["name"], job.spec["trainer"]
        limits = users.get((job.namespace, name), {})
        low, high = (int(limits.get(f"{end}Nodes.{name}", "0")) for end in ("min", "max"))
        if not low <= trainer["numNodes"] <= high:
            yield f"{job.path}: {trainer['numNodes']} nodes, where {low} to {high} are let through"
        if (
            job.namespace,
            job.body["metadata"]["labels"]["kueue.x-k8s.io/queue-name"],
        ) not in queues:
            yield f"{job.path}: no such queue"
        folder, _, program = trainer["command"][0].rpartition("/")
        if folder and f'"TOOL_{program.replace("-", "_")}"' not in json.dumps(runtimes[name].body):
            yield f"{job.path}: nobody writes {trainer['command'][0]}"


AUDITS = (
    the_largest_job_fits_its_queue,
    queues_cover_what_they_list,
    pods_attach_to_networks_of_their_namespace,
    functions_are_made_where_pods_run,
    flavors_lead_to_their_nodes,
    pods_are_placed_together,
    jobs_to_copy_can_be_submitted,
)
