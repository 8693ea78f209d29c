"""Check that the queue of a job covers the job's resources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trainyard.diagnostics import Diagnostic, Note
from trainyard.model.lookup import EVERY, lookup, mapping
from trainyard.model.manifest import Manifest
from trainyard.model.names import DEFAULT_QUEUE
from trainyard.references.index import Index
from trainyard.references.pods import requested
from trainyard.rules.references.uncovered_resource import RULE as UNCOVERED_RESOURCE


def check_coverage(index: Index, listing: Mapping[str, list[str]]) -> Iterator[Diagnostic]:
    """Check each runtime against the queues of its namespaces, and each job against its queue.

    Args:
        index: of the site.
        listing: runtime -> namespaces.
    """
    queues: dict[str, list[Manifest]] = {}
    for local in index.kinds.get("LocalQueue", ()):
        leads_to = ("ClusterQueue", "", str(mapping(local.body, "spec").get("clusterQueue", "")))
        if leads_to in index.manifests:
            queues.setdefault(local.namespace, []).append(index.manifests[leads_to])
    asked: dict[str, frozenset[str]] = {}
    for runtime in index.kinds.get("ClusterTrainingRuntime", ()):
        asked[runtime.name] = requested(runtime.body)
        for namespace in listing.get(runtime.name, ()):
            yield from _uncovered(runtime, asked[runtime.name], queues.get(namespace, ()))
    for job in index.kinds.get("TrainJob", ()):
        yield from _job(index, job, asked)


def _job(index: Index, job: Manifest, asked: Mapping[str, frozenset[str]]) -> Iterator[Diagnostic]:
    labels = mapping(job.body, "metadata", "labels")
    label = str(labels.get("kueue.x-k8s.io/queue-name", DEFAULT_QUEUE))
    local = index.manifests.get(("LocalQueue", job.namespace, label))
    of_runtime = asked.get(str(mapping(job.body, "spec", "runtimeRef").get("name", "")))
    if local is None or of_runtime is None:
        return
    leads_to = ("ClusterQueue", "", str(mapping(local.body, "spec").get("clusterQueue", "")))
    own = mapping(job.body, "spec", "trainer", "resourcesPerNode", "requests")
    if leads_to in index.manifests:
        yield from _uncovered(job, frozenset(own) or of_runtime, [index.manifests[leads_to]])


def _uncovered(
    asking: Manifest, asked: frozenset[str], queues: Iterable[Manifest]
) -> Iterator[Diagnostic]:
    """Yield a finding unless one queue covers all: a team may have a queue for each node class."""
    lacking = [(sorted(asked - _covered(queue)), queue) for queue in queues]
    names, queue = min(lacking, key=lambda each: (len(each[0]), each[1].name), default=([], asking))
    if names:
        listed = ", ".join(f"`{name}`" for name in names)
        message = (
            f"{asking.path}: requests {listed}, which ClusterQueue `{queue.name}` does not cover"
        )
        yield UNCOVERED_RESOURCE.at(
            asking.at, message, notes=[Note(f"the queue comes from {queue.files[0]}", queue.at)]
        )


def _covered(queue: Manifest) -> set[str]:
    path = ("spec", "resourceGroups", EVERY, "coveredResources", EVERY)
    return {str(name) for _, name in lookup(queue.body, path)}
