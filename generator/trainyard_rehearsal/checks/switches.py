"""Where the ranks of a job are, by the switches of their nodes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby

from trainyard.model.space import Sample
from trainyard_rehearsal.checks.jobs import Pod
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.lab import Lab

_GROUP = "kueue.x-k8s.io/podset-group-name"


def node_labels(lab: Lab) -> dict[str, Body]:
    """Return the labels of each node, by its name."""
    nodes = (each["metadata"] for each in lab.api.list("v1", "Node"))
    return {metadata["name"]: metadata["labels"] for metadata in nodes}


def unordered_ranks(lab: Lab, pods: Sequence[Pod], sample: Sample) -> Iterator[str]:
    """Report leaf switches whose pods don't have consecutive ranks."""
    topology = sample.launch.topology
    if topology is None:
        return
    labels = node_labels(lab)
    leaves = [labels[pod.node].get(topology.preferred_level, pod.node) for pod in pods]
    runs = Counter(leaf for leaf, _ in groupby(leaves))
    if repeated := [leaf for leaf, count in runs.items() if count > 1]:
        yield f"ranks are not in order: {', '.join(repeated)} is there twice in {leaves}"


def scattered(lab: Lab, pods: Sequence[Pod], sample: Sample) -> Iterator[str]:
    """Report ranks below several switches though one has room for all: no other job runs.

    Kueue places a launcher that is a rank apart from the nodes, except in a group of both
    (docs/decisions/0009-no-group-no-restarts-on-3-5.md).
    """
    topology = sample.launch.topology
    if topology is None or not pods:
        return
    leaves = _leaves(lab, topology.preferred_level)
    free = Counter(leaves[name] for name in _open_nodes(lab, pods[0].node.rpartition("-")[0]))
    placed: dict[str, list[str]] = defaultdict(list)
    for pod in pods:
        annotations = pod.body.get("metadata", {}).get("annotations", {})
        placed[annotations.get(_GROUP, pod.role)].append(leaves[pod.node])
    for switches in placed.values():
        if len({*switches}) > 1 and len(switches) <= max(free.values()):
            used = ", ".join(sorted({*switches}))
            yield f"ranks are below {used}, though one has room for all of them"


def _leaves(lab: Lab, level: str) -> dict[str, str]:
    """Return the switch of each node at a level of the topology."""
    return {name: labels.get(level, name) for name, labels in node_labels(lab).items()}


def _open_nodes(lab: Lab, pool: str) -> Iterator[str]:
    """Yield the nodes of a pool that are not cordoned."""
    for node in lab.api.list("v1", "Node"):
        name = str(node["metadata"]["name"])
        if name.rpartition("-")[0] == pool and not node.get("spec", {}).get("unschedulable"):
            yield name
