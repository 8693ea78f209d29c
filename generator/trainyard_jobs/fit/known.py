"""What the admission policies refuse by numbers and names of the profiles, where nobody asks them.

The policies' own expressions are judged by the evaluator alone. Without it, these are what jobs are
refused for most; the platform's model has each limit, as it has for the policies' parameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.model.accelerator import maker_by
from trainyard.model.lookup import mapping, mappings, value_at
from trainyard.model.space import Grant, Space
from trainyard_jobs.fit.case import Case
from trainyard_jobs.fit.grants import grant_of
from trainyard_jobs.fit.pods import changes_of

PRIORITY = "kueue.x-k8s.io/priority-class"
_VOLUMES = frozenset({"configMap", "emptyDir", "name", "persistentVolumeClaim", "secret"})
_PLACES = ("affinity", "nodeSelector", "schedulingGates", "tolerations")


def known_refusals(case: Case) -> Iterator[str]:
    """Yield what of a job the admission policies are known to refuse."""
    space = case.space
    if space is None:
        return
    grant = grant_of(case.body, space)
    if grant is None:
        if case.runtime is not None:
            allowed = ", ".join(each.launch.name for each in space.grants) or "none"
            yield (
                f"spec.runtimeRef: team {space.team.name} may use {allowed} in {space.namespace}, "
                f"and not {case.runtime.name}"
            )
        return
    yield from _sizes(case, grant)
    yield from _names(case, space, grant)
    yield from _pods(case)


def _sizes(case: Case, grant: Grant) -> Iterator[str]:
    least, nodes = grant.launch.runtime.smallest_job, value_at(case.body, "spec.trainer.numNodes")
    if isinstance(nodes, int) and not least <= nodes <= grant.nodes:
        yield f"spec.trainer.numNodes: {nodes} is not from {least} to {grant.nodes}"
    gpu, gpus = grant.launch.hardware.gpu, grant.launch.gpus
    given = {gpu.resource: str(gpus)} if gpu else {}
    for part in ("requests", "limits"):
        asked = mapping(case.body, "spec", "trainer", "resourcesPerNode", part)
        for name, amount in asked.items():
            if maker_by(name) and given.get(name, "0") != str(amount):
                yield (
                    f"spec.trainer.resourcesPerNode.{part}: a pod of {grant.launch.name} has "
                    f"{gpus} GPUs, and not {name}: {amount}: leave the field out"
                )


def _names(case: Case, space: Space, grant: Grant) -> Iterator[str]:
    longest = grant.launch.longest_job_name
    if len(case.name) > longest:
        yield f"metadata.name: it has {len(case.name)} characters, and may have {longest}"
    labels = mapping(case.body, "metadata", "labels")
    known = [priority.name for priority in space.priorities]
    if PRIORITY in labels and labels[PRIORITY] not in known:
        allowed = ", ".join(known) or "none"
        yield f"label {PRIORITY}: the classes are {allowed}, and not {labels[PRIORITY]}"


def _pods(case: Case) -> Iterator[str]:
    """Yield what a job changes in its pods and may not."""
    found: dict[str, None] = {}
    for _, change in changes_of(case.body):
        spec: dict[str, Any] = mapping(change, "spec")
        for volume in mappings(spec, "volumes"):
            for kind in sorted(volume.keys() - _VOLUMES):
                found[f"volume {volume.get('name')}: a job mounts no {kind}"] = None
        for field in _PLACES:
            if spec.get(field):
                found[f"a job's changes to its pods set no {field}: Kueue places jobs"] = None
    yield from found
