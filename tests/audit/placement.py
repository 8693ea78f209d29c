"""Jobs can start: what their pods name and request exists, has quota, and fits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tests.audit.capacity import amount, left_of, node_of, nodes_of
from tests.audit.tree import Document, Tree

_NETWORKS, _GROUP = "k8s.v1.cni.cncf.io/networks", "kueue.x-k8s.io/podset-group-name"
_TOOLS = "/opt/trainyard"
_PREFERRED, _OFFSET = "kueue.x-k8s.io/podset-preferred-topology", "kueue.x-k8s.io/pod-index-offset"


def _jobs(runtime: Document) -> list[tuple[str, dict[str, str], dict[str, Any]]]:
    """Return name, annotations and pod of each replicated job."""
    found = []
    for job in runtime.spec["template"]["spec"]["replicatedJobs"]:
        template = job["template"]["spec"]["template"]
        annotations = template.get("metadata", {}).get("annotations", {})
        found.append((job["name"], annotations, template["spec"]))
    return found


def _is_small(runtime: Document) -> bool:
    """Return whether the launcher of a runtime's jobs has no ranks."""
    return runtime.spec["mlPolicy"].get("mpi", {}).get("runLauncherAsNode") is False


def _rank_pod(runtime: Document) -> dict[str, Any]:
    """Return the pod of a runtime's ranks."""
    jobs = _jobs(runtime)
    return jobs[-2 if _is_small(runtime) else -1][2]


def _requests(spec: dict[str, Any]) -> dict[str, Fraction]:
    """Return a pod's requests: of all containers, or of the largest init container."""
    total: dict[str, Fraction] = {"pods": Fraction(1)}
    for container in spec["containers"]:
        for name, text in container["resources"]["requests"].items():
            total[name] = total.get(name, Fraction(0)) + amount(text)
    for container in spec.get("initContainers", ()):
        for name, text in container["resources"]["requests"].items():
            total[name] = max(total.get(name, Fraction(0)), amount(text))
    return total


def _uses(tree: Tree) -> Iterator[tuple[str, Document, dict[str, str]]]:
    """Yield each namespace with each runtime that its limits permit, and the limits."""
    limits = {each.name: each.body["data"] for each in tree.of("ConfigMap")}
    runtimes = {each.name: each for each in tree.of("ClusterTrainingRuntime")}
    for binding in tree.of("ValidatingAdmissionPolicyBinding"):
        if team := tree.team_of(binding):
            data = limits[binding.spec["paramRef"]["name"]]
            selected = binding.spec["matchResources"]["namespaceSelector"]["matchLabels"]
            namespace = selected.get("kubernetes.io/metadata.name")
            if len(selected) == 1 and namespace in tree.namespaces(team):
                for name in data["runtimes"].split():
                    yield namespace, runtimes[name], data


def _flavors(tree: Tree, namespace: str, runtime: Document) -> list[dict[str, Any]]:
    """Return the flavors of a namespace's queue whose nodes a runtime selects."""
    spec = _rank_pod(runtime)
    kind = "gpu" if any(name.endswith("/gpu") for name in _requests(spec)) else "cpu"
    selector = spec.get("nodeSelector", {}).items()
    labels = {each.name: each.spec["nodeLabels"] for each in tree.of("ResourceFlavor")}
    return [
        flavor
        for flavor in _flavors_of_queue(tree, namespace, kind)
        if selector <= labels[flavor["name"]].items()
    ]


def _flavors_of_queue(tree: Tree, namespace: str, name: str) -> Iterator[dict[str, Any]]:
    """Yield the flavors of the ClusterQueue of a LocalQueue."""
    wanted = set()
    for local in tree.of("LocalQueue"):
        if (local.namespace, local.name) == (namespace, name):
            wanted.add(local.spec["clusterQueue"])
    for queue in tree.of("ClusterQueue"):
        if queue.name in wanted:
            for group in queue.spec["resourceGroups"]:
                yield from group["flavors"]


def _available(tree: Tree, team: str, flavors: list[dict[str, Any]]) -> dict[str, Fraction]:
    """Return nominal quota and borrowing limit of each resource, over all flavors.

    What a team lacks while nodes are in maintenance counts: its largest jobs wait for it.
    """
    found: dict[str, Fraction] = {}
    for flavor in flavors:
        pool = flavor["name"]
        share = tree.teams[team]["quota"][tree.name][pool]
        lacking = nodes_of(tree, pool, share) - left_of(tree, pool, team, share)
        for resource in flavor["resources"]:
            name = resource["name"]
            limit = amount(resource["nominalQuota"]) + amount(resource.get("borrowingLimit", "0"))
            back = lacking * node_of(tree, pool).get(name, Fraction(0))
            found[name] = found.get(name, Fraction(0)) + limit + back
    return found


def the_largest_job_fits_its_queue(tree: Tree) -> Iterator[str]:
    """A queue without enough of each resource leaves the job pending permanently."""
    for namespace, runtime, limits in _uses(tree):
        team = next(each for each in tree.teams if namespace in tree.namespaces(each))
        available = _available(tree, team, _flavors(tree, namespace, runtime))
        wanted = _wanted(runtime, int(limits[f"maxNodes.{runtime.name}"]))
        for resource, number in sorted(wanted.items()):
            if resource not in available:
                yield f"{namespace}: {runtime.name} requests {resource}, which no queue covers"
            elif number > available[resource]:
                quota = f"{number} of {resource}, beyond {available[resource]}"
                yield f"{namespace}: {runtime.name} requests {quota}"


def _wanted(runtime: Document, nodes: int) -> dict[str, Fraction]:
    """Return the requests of a job with a number of nodes, those of its other pods included."""
    jobs = _jobs(runtime)
    others = [spec for name, _, spec in jobs if name.endswith("-initializer")]
    if _is_small(runtime):
        others.append(jobs[-1][2])
    found: dict[str, Fraction] = {}
    for count, spec in [(nodes, _rank_pod(runtime)), *((1, spec) for spec in others)]:
        for name, requested in _requests(spec).items():
            found[name] = found.get(name, Fraction(0)) + count * requested
    return found


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
    """Multus fails a pod without its network; a pod requests the functions of its networks."""
    resources = _networks(tree)
    for namespace, runtime, _ in _uses(tree):
        for name, own, spec in _jobs(runtime):
            named = list(filter(None, own.get(_NETWORKS, "").split(",")))
            # A network that does not exist provides no resource.
            provided = sorted(resources.get((namespace, each), "") for each in named)
            requested = sorted(_functions(spec, f"{tree.prefix}/"))
            if provided != requested:
                networks = f"attaches to {named}, and requests {requested}"
                yield f"{runtime.path}: {name} in {namespace} {networks}"


def _networks(tree: Tree) -> dict[tuple[str, str], str]:
    """Return the resource of each network, by namespace and name."""
    found = {}
    for each in tree.of("NetworkAttachmentDefinition"):
        found[each.namespace, each.name] = each.annotation("k8s.v1.cni.cncf.io/resourceName")
    for each in tree.of("SriovNetwork"):
        resource = f"{tree.prefix}/{each.spec['resourceName']}"
        found[each.spec["networkNamespace"], each.name] = resource
    return found


def _functions(spec: dict[str, Any], prefix: str = "") -> set[str]:
    """Return the resources of virtual functions that a pod requests."""
    names = _requests(spec)
    return {name for name in names if name.startswith(prefix) and "_rail_" in name}


def functions_exist_where_pods_run(tree: Tree) -> Iterator[str]:
    """The operator creates each requested function on the nodes of each possible flavor."""
    labels = {each.name: each.spec["nodeLabels"] for each in tree.of("ResourceFlavor")}
    for namespace, runtime, _ in _uses(tree):
        requested: set[str] = set()
        for _, _, spec in _jobs(runtime):
            requested |= _functions(spec)
        for flavor in _flavors(tree, namespace, runtime):
            missing = requested - _created(tree, labels[flavor["name"]])
            if missing:
                yield f"{runtime.path}: no policy creates {sorted(missing)} on {flavor['name']}"


def _created(tree: Tree, labels: dict[str, str]) -> set[str]:
    """Return the resources of functions that are created on nodes with some labels."""
    specs = [each.spec for each in tree.of("SriovNetworkNodePolicy")]
    own = [each for each in specs if each["nodeSelector"].items() <= labels.items()]
    return {f"{tree.prefix}/{each['resourceName']}" for each in own if each["isRdma"]}


def flavors_select_their_nodes(tree: Tree) -> Iterator[str]:
    """Kueue gives pods the flavor's labels and tolerations, which must match the node type."""
    flavors = {each.name: each.spec for each in tree.of("ResourceFlavor")}
    for pool, fields in tree.cluster["pools"].items():
        flavor = flavors.get(pool, {})
        for fault in _flavor_faults(flavor, tree.hardware_of(pool)):
            yield f"pool {pool}: {fault}"
        fabric = fields.get("fabric", "")
        if flavor.get("topologyName", "") != fabric or not _has_levels(tree, fabric):
            yield f"pool {pool}: its topology is not that of fabric {fabric or 'none'}"


def _flavor_faults(flavor: dict[str, Any], hardware: dict[str, Any]) -> Iterator[str]:
    tolerated = {each["key"] for each in flavor.get("tolerations", ())}
    taints = set(filter(None, [hardware.get("taint")]))
    if tolerated != taints:
        yield f"taint {sorted(taints)}, tolerated {sorted(tolerated)}"
    labels = flavor.get("nodeLabels")
    if not labels or labels != hardware.get("labels", labels):
        yield f"the flavor selects {labels}"


def _has_levels(tree: Tree, fabric: str) -> bool:
    """Return whether the Topology of a fabric has the levels of its profile."""
    if not fabric:
        return True
    wanted = [*tree.cluster["fabrics"][fabric].get("levels", ()), "kubernetes.io/hostname"]
    topologies = {each.name: each.spec["levels"] for each in tree.of("Topology")}
    return [level["nodeLabel"] for level in topologies.get(fabric, ())] == wanted


def pods_are_grouped_by_topology(tree: Tree) -> Iterator[str]:
    """The preferred level is one of a topology; launcher and nodes are one group, or none.

    A launcher without nodes is one pod, and in no group.
    """
    levels = set(_levels(tree))
    for runtime in tree.of("ClusterTrainingRuntime"):
        jobs = dict(_annotations(runtime))
        preferred = {each[_PREFERRED] for each in jobs.values() if _PREFERRED in each}
        if preferred - levels or len(preferred) > 1:
            yield f"{runtime.path}: no level {sorted(preferred)}"
        several = "mpi" in runtime.spec["mlPolicy"] and len(jobs) > 1
        grouped = all((preferred, several, not tree.openshift))
        for fault in _group_faults(jobs, grouped=grouped):
            yield f"{runtime.path}: {fault}"


def _levels(tree: Tree) -> Iterator[str]:
    """Yield the node label of each level of each Topology."""
    for topology in tree.of("Topology"):
        for level in topology.spec["levels"]:
            yield level["nodeLabel"]


def _annotations(runtime: Document) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield name and annotations of each replicated job that is not an initializer."""
    for name, own, _ in _jobs(runtime):
        if not name.endswith("-initializer"):
            yield name, own


def _group_faults(jobs: dict[str, dict[str, str]], *, grouped: bool) -> Iterator[str]:
    """Yield differences from the expected group of launcher and nodes."""
    groups = {name: each.get(_GROUP) for name, each in jobs.items()}
    offsets = {name: each.get(_OFFSET) for name, each in jobs.items()}
    no_job: dict[str, str | None] = dict.fromkeys(jobs)
    if groups != ({"node": "job", "launcher": "job"} if grouped else no_job):
        yield f"groups {groups}"
    if offsets != ({"node": "-1", "launcher": None} if grouped else no_job):
        yield f"offsets {offsets}"


def jobs_without_a_label_have_a_queue(tree: Tree) -> Iterator[str]:
    """`default` is another name of one of the namespace's queues, as the limits say."""
    for namespace, runtime, limits in _uses(tree):
        queues = {
            each.name: each.spec["clusterQueue"]
            for each in tree.of("LocalQueue")
            if each.namespace == namespace
        }
        named = queues.get(limits["defaultQueue"], "none")
        if queues.get("default") != named or set(limits["queues"].split()) != set(queues):
            yield f"{namespace}, {runtime.name}: queues {queues}, limits {limits['queues']}"


def sample_jobs_can_be_submitted(tree: Tree) -> Iterator[str]:
    """A sample's namespace has its runtime and queue, and its pods have its programs.

    It is in the folder of the team that may submit it.
    """
    users = {(namespace, runtime.name): limits for namespace, runtime, limits in _uses(tree)}
    queues = {(each.namespace, each.name) for each in tree.of("LocalQueue")}
    for job in tree.of("TrainJob"):
        name, nodes = job.spec["runtimeRef"]["name"], job.spec["trainer"]["numNodes"]
        limits = users.get((job.namespace, name), {})
        if nodes not in _permitted(limits, name):
            yield f"{job.path}: {nodes} nodes, where {_permitted(limits, name)} is permitted"
        labels = job.body["metadata"].get("labels", {})
        queue = labels.get("kueue.x-k8s.io/queue-name", "default")
        if (job.namespace, queue) not in queues:
            yield f"{job.path}: no such queue"
        if job.unit != f"samples/{tree.team_of(job)}":
            yield f"{job.path}: in another folder than that of team {tree.team_of(job)}"
        for program in _programs(job):
            if not _has_program(tree, name, program):
                yield f"{job.path}: its pods lack {program}"


def _programs(job: Document) -> Iterator[str]:
    """Yield the command of a job, and the launcher that an acceptance test is told of."""
    trainer = job.spec["trainer"]
    yield trainer["command"][0]
    launchers = [each for each in trainer.get("args", ()) if each.startswith("mpirun=")]
    if job.path.rpartition("/")[2].startswith("test-"):
        (launcher,) = launchers
        yield launcher.removeprefix("mpirun=")


def _permitted(limits: dict[str, str], runtime: str) -> range:
    """Return the numbers of nodes that limits permit with a runtime."""
    low, high = limits.get(f"minNodes.{runtime}", "0"), limits.get(f"maxNodes.{runtime}", "0")
    return range(int(low), int(high) + 1)


def _has_program(tree: Tree, runtime: str, command: str) -> bool:
    """Return whether a runtime's pods have a program; one without a folder is the image's.

    A runtime writes those of its own folder, and its containers start the image's shell.
    """
    folder, _, program = command.rpartition("/")
    if not folder:
        return True
    found = [each for each in tree.of("ClusterTrainingRuntime") if each.name == runtime]
    if folder != _TOOLS:
        return bool(found) and command in _started(found[0])
    return bool(found) and f'"TOOL_{program.replace("-", "_")}"' in json.dumps(found[0].body)


def _started(runtime: Document) -> set[str]:
    """Return the programs that the launcher of a runtime, or else each node, starts itself."""
    *_, (_, _, spec) = _jobs(runtime)
    return {each["command"][0] for each in spec["containers"] if "command" in each}


AUDITS = (
    the_largest_job_fits_its_queue,
    queues_cover_what_they_list,
    pods_attach_to_networks_of_their_namespace,
    functions_exist_where_pods_run,
    flavors_select_their_nodes,
    pods_are_grouped_by_topology,
    jobs_without_a_label_have_a_queue,
    sample_jobs_can_be_submitted,
)
