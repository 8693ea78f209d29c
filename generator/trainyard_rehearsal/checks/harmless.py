"""What a team may make of a sample job: the same fields as in hostile jobs, with harmless values."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.model.space import Sample
from trainyard_rehearsal.checks.variants import (
    OWN,
    Variant,
    asking,
    patched,
    patches_runtimes,
    shown,
    whole_node,
    with_change,
    with_pod,
)
from trainyard_rehearsal.control_plane.api import Body

_GOOD_PODS: tuple[Body, ...] = (
    {"volumes": [{"name": "x", "emptyDir": {}}]},
    {"volumes": [{"name": "x", "secret": {"secretName": "a"}}]},
    {"volumes": [{"name": "x", "configMap": {"name": "a"}}]},
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
_GOOD_TRAINERS: tuple[Body, ...] = (
    {"image": "registry.example.com/x:1"},
    {"command": ["a"], "args": ["b"]},
    {
        "env": [
            {"name": "A", "value": "b"},
            {"name": "B", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
        ]
    },
)
_GOOD_METADATA: tuple[Body, ...] = ({"labels": {"mine": "x"}},)


def good_jobs(sample: Sample, body: Body) -> Iterator[Variant]:
    """Yield a sample and what its team may make of it: the same fields as in hostile jobs, with harmless values."""
    yield Variant("as it is", body)
    for pod in _GOOD_PODS:
        yield Variant(f"pod {shown(pod)}", with_pod(sample, body, pod))
    for trainer in (*_GOOD_TRAINERS, asking(whole := whole_node(sample), whole)):
        yield Variant(
            f"trainer {shown(trainer)}", with_change(body, {"spec": {"trainer": trainer}})
        )
    for spec in ({"managedBy": "trainer.kubeflow.org/trainjob-controller"}, _unchanged(sample)):
        yield Variant(f"spec {shown(spec)}", with_change(body, {"spec": spec}))
    for metadata in (*_GOOD_METADATA, *_in_time(sample)):
        yield Variant(f"metadata {shown(metadata)}", with_change(body, {"metadata": metadata}))


def _in_time(sample: Sample) -> Iterator[Body]:
    """Yield each class with the latest end that its jobs may have."""
    for priority in sample.space.priorities:
        yield {"labels": priority.labels}


def _unchanged(sample: Sample) -> Body:
    """Return changes to the pods that change nothing."""
    if patches_runtimes(sample):
        return patched(OWN, [{"name": "node"}])
    return {"podTemplateOverrides": [{"targetJobs": [{"name": "node"}], "spec": {}}]}
