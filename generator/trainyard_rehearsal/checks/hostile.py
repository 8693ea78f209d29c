"""TrainJobs, and changes to TrainJobs, that a cluster must refuse, each with its refusal.

When accepted, each of them hung a job, occupied a node permanently, or reached another tenant
(docs/explanation/isolation.md).
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.model import names
from trainyard.model.quantity import format_amount
from trainyard.model.runtime import INITIALIZERS
from trainyard.model.space import Sample
from trainyard.model.variables import REFUSED
from trainyard_rehearsal.checks.forbidden_metadata import FORBIDDEN_METADATA, TRAINER_METADATA
from trainyard_rehearsal.checks.hostile_pods import hostile_pods
from trainyard_rehearsal.checks.hostile_sizes import large_jobs
from trainyard_rehearsal.checks.refusals import (
    CLASS,
    DEADLINE,
    ENVIRONMENT,
    FINALIZER,
    FIXED,
    JOB_TOO_LARGE,
    JOBSET_METADATA,
    KUEUE_KEYS,
    MANAGER,
    METADATA,
    NAME_FORM,
    NODES,
    NUL,
    PLACEMENT,
    PRIORITY,
    QUEUE,
    RANKS,
    REFERENCES,
    RESOURCES,
    RUNTIME,
    SCRIPTS,
    STEPS,
    TRAINER_FIELDS,
    VOLUME_FORM,
)
from trainyard_rehearsal.checks.variants import (
    QUEUE_LABEL,
    USER_MANAGER,
    Variant,
    as_json,
    changed_job,
    own_resources,
    patches_runtimes,
    resources_per_node,
    runtime_patch,
    runtime_patches,
    variant,
    whole_node,
    with_pod,
)
from trainyard_rehearsal.control_plane.api import Body

_SOURCES: tuple[Body, ...] = (
    {"resourceFieldRef": {"resource": "limits.nvidia.com/gpu"}},
    {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "3"}},
    {"resourceFieldRef": {"resource": "limits.cpu", "containerName": "none"}},
    {"fieldRef": {"fieldPath": "spec.foo"}},
    {"fieldRef": {"fieldPath": "metadata.labels['x y']"}},
    {"fieldRef": {"apiVersion": "v2", "fieldPath": "metadata.uid"}},
    {"secretKeyRef": {"name": "", "key": "a"}},
    {"secretKeyRef": {"name": "Not A Name", "key": "a"}},
    {"secretKeyRef": {"name": "a", "key": ".."}},
    {"configMapKeyRef": {"name": "a", "key": "..x"}},
)
_ENV: tuple[list[Body], ...] = (
    [],
    [{"name": "A", "value": ""}],
    [{"name": "A", "value": "x", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
    [{"name": "9bad=name", "value": "x"}],
    *([{"name": "A", "valueFrom": source}] for source in _SOURCES),
)
_MULTIPLIED = [{"name": "A0", "value": "x" * 60}] + [
    {"name": f"A{level}", "value": f"$(A{level - 1})" * 10} for level in range(1, 20)
]
"""6 * 10**20 characters for whoever expands them."""
_IMAGES = (
    *("A B", "example.com/UPPER:a", "a/B:c:d", "a//b", "a@b"),
    *("a:", "", "-a.com/x", "x@sha256:0", "a/" * 130 + "b"),
)
_CONTAINERS: tuple[tuple[Body, str], ...] = (
    *(({"env": env}, ENVIRONMENT) for env in _ENV),
    *(({"env": [{"name": name, "value": "none"}]}, SCRIPTS) for name in REFUSED),
    ({"env": [{"name": f"A{i}", "value": "x"} for i in range(201)]}, JOB_TOO_LARGE),
    ({"env": [{"name": "A", "value": "x" * 70_000}]}, JOB_TOO_LARGE),
    ({"command": ["x" * 40_000], "args": ["x" * 30_000]}, JOB_TOO_LARGE),
    ({"env": _MULTIPLIED}, REFERENCES),
    ({"args": ["$(A)" * 65]}, REFERENCES),
    ({"args": ["$$$(A)" * 65]}, REFERENCES),
    ({"args": ["\0"]}, NUL),
    ({"env": [{"name": "A", "value": "a\0b"}]}, NUL),
    (
        {"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "a..b", "key": "a"}}}]},
        NAME_FORM,
    ),
    ({"command": []}, TRAINER_FIELDS),
    ({"args": []}, TRAINER_FIELDS),
    *(({"image": image}, TRAINER_FIELDS) for image in _IMAGES),
)
_TRAINERS: tuple[tuple[Body, str], ...] = (
    ({"numNodes": 0}, NODES),
    ({"numNodes": -1}, NODES),
    ({"numNodes": 5000}, NODES),
    ({"numProcPerNode": 0}, RANKS),
    ({"numProcPerNode": 9999}, RANKS),
    ({"numProcPerNode": "auto"}, RANKS),
    ({"resourcesPerNode": {}}, RESOURCES),
)
_SPECS: tuple[tuple[Body, str], ...] = (
    ({"runtimeRef": {"kind": "TrainingRuntime"}}, RUNTIME),
    ({"runtimeRef": {"name": "of-another-team"}}, RUNTIME),
    ({"runtimeRef": {"name": ""}}, RUNTIME),
)
_NO_QUEUE: tuple[tuple[Body, str], ...] = (
    ({"labels": {QUEUE_LABEL: ""}}, QUEUE),
    ({"labels": {QUEUE_LABEL: None}}, QUEUE),
)
"""Kueue names a LocalQueue in a job that is created like this, and not in one that is changed."""
_LABELS: tuple[tuple[Body, str], ...] = (
    ({"labels": {QUEUE_LABEL: "other"}}, QUEUE),
    ({"labels": {"kueue.x-k8s.io/priority-class": "system-cluster-critical"}}, PRIORITY),
)
_UNKNOWN_LABELS = ("prebuilt-workload-name", "queuename")
_METADATA_CHANGES: tuple[tuple[Body, str], ...] = (
    *(({"labels": {f"kueue.x-k8s.io/{key}": "x"}}, KUEUE_KEYS) for key in _UNKNOWN_LABELS),
    ({"annotations": {"kueue.x-k8s.io/admission-gated-by": "example.com/a"}}, KUEUE_KEYS),
    ({"finalizers": ["orphan"]}, FINALIZER),
    *FORBIDDEN_METADATA,
    *TRAINER_METADATA,
)

_MANAGED: tuple[Body, str] = ({"managedBy": "kueue.x-k8s.io/multikueue"}, MANAGER)
_SPEC_CHANGES: tuple[tuple[Body, str], ...] = (
    ({"trainer": {"image": "example.com/other"}}, FIXED),
    _MANAGED,
    ({"runtimeRef": {"name": "of-another-team"}}, RUNTIME),
)
"""Changes to a job that was submitted."""

_NETWORK = {"annotations": {"k8s.v1.cni.cncf.io/networks": "team-other/rail-0"}}
_OTHER_QUEUE = {"labels": {QUEUE_LABEL: "other"}}
_TOPOLOGY = {"annotations": {"kueue.x-k8s.io/podset-required-topology": "kubernetes.io/hostname"}}
_KUEUE = "kueue.x-k8s.io/manager"


def hostile_jobs(sample: Sample, body: Body) -> Iterator[Variant]:
    """Yield jobs that no team may submit."""
    for pod, refusal in hostile_pods(sample):
        yield Variant(f"pod {as_json(pod)}", with_pod(sample, body, pod), refusal)
    for trainer, refusal in (*_CONTAINERS, *_torchrun_variables(sample)):
        yield variant(body, "trainer", trainer, refusal)
    job = changed_job(sample)
    forms = _patches(job) if patches_runtimes(sample) else _overrides(job)
    for spec, refusal in (_MANAGED, *forms):
        yield variant(body, "spec", spec, refusal)
    for metadata, refusal in _METADATA_CHANGES:
        yield variant(body, "metadata", metadata, refusal)
    yield from large_jobs(sample, body)


def jobs_over_limits(sample: Sample, body: Body) -> Iterator[Variant]:
    """Yield jobs that exceed the limits of the sample's own team and runtime."""
    for trainer, refusal in (*_TRAINERS, *_resources(sample)):
        yield variant(body, "trainer", trainer, refusal)
    for spec, refusal in (*_SPECS, *_steps(sample)):
        yield variant(body, "spec", spec, refusal)
    too_long = ({"name": "a" * 60}, "metadata.name has")
    for metadata, refusal in (*_LABELS, *_queues(sample), *_deadlines(sample), too_long):
        yield variant(body, "metadata", metadata, refusal)


def hostile_changes(sample: Sample, job: Body) -> Iterator[tuple[str, Body, str]]:
    """Yield changes that no user may make to a submitted job: display, merge patch, refusal."""
    forms = (form for form in ("runtimePatches", "podTemplateOverrides") if form in job["spec"])
    emptied: list[tuple[Body, str]] = [({form: None}, FIXED) for form in forms]
    flipped: tuple[Body, str] = ({"suspend": not job["spec"].get("suspend", False)}, FIXED)
    for spec, refusal in (*emptied, flipped, *_SPEC_CHANGES):
        yield f"spec {as_json(spec)}", {"spec": spec}, refusal
    for metadata, refusal in (*_LABELS, *_NO_QUEUE, *_METADATA_CHANGES, *_deadlines(sample)):
        yield f"metadata {as_json(metadata)}", {"metadata": metadata}, refusal


def _patches(job: Body) -> Iterator[tuple[Body, str]]:
    """Yield ``runtimePatches`` (Trainer 2.2) beyond pods, or under Kueue's manager name."""
    for metadata in (_NETWORK, _OTHER_QUEUE, _TOPOLOGY):
        of_pods = {"spec": {"template": {"metadata": metadata}}}
        yield _patch(USER_MANAGER, job, of_pods), METADATA
        yield _patch(USER_MANAGER, job, {"metadata": metadata}), METADATA
        yield {"runtimePatches": [runtime_patch(USER_MANAGER, {"metadata": metadata})]}, METADATA
    tolerant = {"spec": {"template": {"spec": {"tolerations": [{"operator": "Exists"}]}}}}
    yield _patch(_KUEUE, job, tolerant), PLACEMENT
    yield {"runtimePatches": [runtime_patch(_KUEUE, {"metadata": _NETWORK})]}, METADATA
    yield runtime_patches(USER_MANAGER, [{"name": "other"}]), METADATA
    twice = [
        runtime_patch(manager, {"spec": {"replicatedJobs": [job]}})
        for manager in (USER_MANAGER, f"{USER_MANAGER}-too")
    ]
    yield {"runtimePatches": twice}, METADATA


def _patch(manager: str, job: Body, template: Body) -> Body:
    return runtime_patches(manager, [{**job, "template": template}])


def _overrides(job: Body) -> Iterator[tuple[Body, str]]:
    """Yield ``podTemplateOverrides`` (Trainer 2.1) beyond pods."""
    nodes = [job]
    for metadata in (_NETWORK, _OTHER_QUEUE, _TOPOLOGY):
        yield {"podTemplateOverrides": [{"targetJobs": nodes, "metadata": metadata}]}, METADATA
    for targets in ([], [{"name": "other"}]):
        yield {"podTemplateOverrides": [{"targetJobs": targets, "spec": {}}]}, METADATA
    once = {"targetJobs": nodes, "spec": {"volumes": [{"name": "y", "emptyDir": {}}]}}
    yield {"podTemplateOverrides": [once, once]}, VOLUME_FORM
    yield {"labels": {"a": "b"}}, JOBSET_METADATA
    yield {"annotations": {"a": "b"}}, JOBSET_METADATA


def _resources(sample: Sample) -> Iterator[tuple[Body, str]]:
    """Yield resources other than a whole node or a whole share; where a job may state none, any."""
    for amounts in (*_wrong_amounts(sample), *_named_alone(sample)):
        yield resources_per_node(amounts, amounts), RESOURCES
    whole = whole_node(sample)
    yield resources_per_node({**whole, "cpu": "1"}, {**whole, "cpu": "2"}), RESOURCES
    if not sample.launch.takes_resources:
        for resources in own_resources(sample):
            yield resources, RESOURCES


def _wrong_amounts(sample: Sample) -> Iterator[Body]:
    whole = whole_node(sample)
    half = {
        name: format_amount(name, amount // 2 or 1)
        for name, amount in sample.launch.per_node.items()
    }
    yield half
    yield {**half, "cpu": whole["cpu"]}
    yield {**half, "memory": whole["memory"]}
    for name in whole:
        yield {**whole, name: "1e15"}
        yield {key: amount for key, amount in whole.items() if key != name}
    yield {**whole, "cpu": "0"}
    for name in ("example.com/x", "hugepages-2Mi"):
        yield {**whole, name: "1"}


def _named_alone(sample: Sample) -> Iterator[Body]:
    """Yield ``{gpu: n, memory: 32Gi}`` as the SDK sends it: all GPUs of a pod, and one."""
    if gpu := sample.launch.hardware.gpu:
        for gpus in sorted({float(sample.launch.gpus), 1.0}):
            yield {gpu.resource: gpus, "memory": "32Gi"}


def _torchrun_variables(sample: Sample) -> Iterator[tuple[Body, str]]:
    if not sample.launch.runtime.launcher.mpi:
        yield {"env": [{"name": "PET_NNODES", "value": "1"}]}, "no variable that begins with PET_"


def _steps(sample: Sample) -> Iterator[tuple[Body, str]]:
    """Yield a step without its source, a source without its step, and an empty variable."""
    steps = [step.name for step in sample.launch.runtime.initializers]
    for part, name in INITIALIZERS.items():
        source = "" if name in steps else "s3://example/x"
        yield {"initializer": {part: {"storageUri": source}}}, STEPS
        for env in _ENV:
            yield {"initializer": {part: {"env": env}}}, ENVIRONMENT
        yield {"initializer": {part: {"env": [{"name": "CUDA_VERSION", "value": "x"}]}}}, SCRIPTS
        secret = {"name": "Not A Name"}
        yield {"initializer": {part: {"storageUri": "s3://a/b", "secretRef": secret}}}, STEPS


def _queues(sample: Sample) -> Iterator[tuple[Body, str]]:
    """Yield names of a ClusterQueue, and none where that leads to other nodes, or to none."""
    for queue in sample.space.queues:
        yield {"labels": {QUEUE_LABEL: queue.name}}, QUEUE
    if sample.local_queue != names.DEFAULT_QUEUE:
        yield {"labels": {QUEUE_LABEL: names.DEFAULT_QUEUE}}, QUEUE
        yield from _NO_QUEUE


def _deadlines(sample: Sample) -> Iterator[tuple[Body, str]]:
    """Yield labels that evade the deadline of a priority class, where it has one."""
    key, name = "kueue.x-k8s.io/max-exec-time-seconds", "kueue.x-k8s.io/priority-class"
    limited = [priority for priority in sample.space.priorities if priority.deadline]
    if limited and len(limited) == len(sample.space.priorities):
        yield {"labels": {name: None}}, CLASS
    for priority in limited:
        for time in (None, "x", "0", str(priority.deadline + 1)):
            yield {"labels": {name: priority.name, key: time}}, DEADLINE
