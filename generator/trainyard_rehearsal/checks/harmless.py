"""Jobs that a team may submit: the fields of hostile jobs with harmless values."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.model import names
from trainyard.model.space import Sample
from trainyard_rehearsal.checks.variants import (
    QUEUE_LABEL,
    USER_MANAGER,
    Variant,
    as_json,
    changed_job,
    own_resources,
    patches_runtimes,
    runtime_patches,
    variant,
    with_pod,
)
from trainyard_rehearsal.control_plane.api import Body

_GOOD_PODS: tuple[Body, ...] = (
    {"volumes": [{"name": "x", "emptyDir": {}}]},
    {"volumes": [{"name": "x", "secret": {"secretName": "a"}}]},
    {"volumes": [{"name": "x", "configMap": {"name": "a"}}]},
    {
        "volumes": [{"name": "x", "emptyDir": {}}, {"name": "y", "emptyDir": {}}],
        "containers": [
            {
                "name": "node",
                "volumeMounts": [
                    {"name": "x", "mountPath": "/data/" + "a" * 255, "subPath": "a" * 255},
                    {"name": "y", "mountPath": "/data/b"},
                ],
            }
        ],
    },
    {
        "volumes": [{"name": "x", "emptyDir": {}}],
        "containers": [
            {
                "name": "node",
                "volumeMounts": [{"name": "x", "mountPath": "/data", "subPath": "a/b"}],
            }
        ],
    },
)
_OF_POD = f"metadata.labels['{names.JOB_LABEL}']"
_GOOD_TRAINERS: tuple[Body, ...] = (
    {"image": "registry.example.com/x:1"},
    {"command": ["a"], "args": ["b"]},
    {
        "env": [
            {"name": "A", "value": "b"},
            {"name": "B", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
            {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": _OF_POD}}},
            {"name": "D", "valueFrom": {"fieldRef": {"fieldPath": "status.podIPs"}}},
            {"name": "E", "valueFrom": {"resourceFieldRef": {"resource": "limits.memory"}}},
            {
                "name": "F",
                "valueFrom": {"resourceFieldRef": {"resource": "requests.cpu", "divisor": "1m"}},
            },
        ]
    },
)
_GOOD_METADATA: tuple[Body, ...] = ({"labels": {"mine": "x"}},)


def harmless_jobs(sample: Sample, body: Body) -> Iterator[Variant]:
    """Yield the sample, then jobs with the fields of hostile jobs and harmless values."""
    yield Variant("as it is", body)
    for pod in _GOOD_PODS:
        yield Variant(f"pod {as_json(pod)}", with_pod(sample, body, pod))
    resources = own_resources(sample) if sample.launch.takes_resources else ()
    for trainer in (*_GOOD_TRAINERS, *resources):
        yield variant(body, "trainer", trainer)
    for spec in ({"managedBy": "trainer.kubeflow.org/trainjob-controller"}, _unchanged(sample)):
        yield variant(body, "spec", spec)
    for metadata in (*_GOOD_METADATA, *_queues(sample), *_within_deadlines(sample)):
        yield variant(body, "metadata", metadata)


def _queues(sample: Sample) -> Iterator[Body]:
    """Yield each name of the sample's queue, and an empty one where that is the default."""
    own = sample.launch.hardware.node_class
    for local in sample.space.local_queues:
        if local.queue.node_class == own:
            yield {"labels": {QUEUE_LABEL: local.name}}
    if sample.local_queue == names.DEFAULT_QUEUE:
        yield {"labels": {QUEUE_LABEL: ""}}


def _within_deadlines(sample: Sample) -> Iterator[Body]:
    """Yield each priority class with its latest deadline, and no class if one has no deadline."""
    for priority in sample.space.priorities:
        yield {"labels": priority.labels}
    if not all(priority.deadline for priority in sample.space.priorities):
        yield {"labels": {"kueue.x-k8s.io/priority-class": None}}


def _unchanged(sample: Sample) -> Body:
    """Return patches of pods that change nothing."""
    if patches_runtimes(sample):
        return runtime_patches(USER_MANAGER, [changed_job(sample)])
    return {"podTemplateOverrides": [{"targetJobs": [changed_job(sample)], "spec": {}}]}
