"""TrainJobs and changes to TrainJobs that a cluster must refuse, each with the words that say why.

Every one hung a job, took a node for ever or left its tenant when it was let through
(docs/explanation/isolation.md).
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.model.quantity import format_amount
from trainyard.model.runtime import INITIALIZERS
from trainyard.model.space import Sample
from trainyard_rehearsal.checks.steering import FINALIZER, STEERING
from trainyard_rehearsal.checks.variants import (
    OWN,
    Variant,
    asking,
    patch,
    patched,
    patches_runtimes,
    shown,
    whole_node,
    with_change,
    with_pod,
)
from trainyard_rehearsal.control_plane.api import Body

_PLACEMENT = "must not set nodeSelector, tolerations, affinity or schedulingGates"
_IDENTITY = "must not set serviceAccountName or imagePullSecrets"
_VOLUME_KIND = "may add only persistentVolumeClaim, configMap, secret and emptyDir volumes"
_VOLUME_FORM = "a volume needs a name of its own"
_CONTAINER = "may change only the container node"
_MOUNT = "a mount has a plain absolute path"
_TRAINER = "leave out empty env values, env, args and command"
_SCRIPTS = "the platform's scripts obey them"
_BYTES = "at most 200 variables, and 64 KiB"
_METADATA = "choose networks and topology"
_RESOURCES = "spec.trainer.resourcesPerNode must be absent"
_RANKS = "spec.trainer.numProcPerNode is"
_NODES = "spec.trainer.numNodes is"
_QUEUE = "label kueue.x-k8s.io/queue-name must be one of"
_PRIORITY = "label kueue.x-k8s.io/priority-class must be one of"
_RUNTIME = "spec.runtimeRef must name one of the ClusterTrainingRuntimes"
_RESERVED = "prebuilt workloads and spec.managedBy are reserved"
_POD_PLATFORM = "must not set securityContext or terminationGracePeriodSeconds"
_JOBSET = "spec.labels and spec.annotations would reach the JobSet"
_DEADLINE = "the job needs a kueue.x-k8s.io/priority-class"
_STEPS = "spec.initializer must say the storageUri"
_FIXED = "spec can't be changed after creation"
ORPHAN = "can't be deleted with its dependents orphaned"
FOREGROUND = "can't be deleted in the foreground"
CLOSED = "is not open for jobs"
RESERVED = "are Trainer's alone"
NO_PARAMETERS = "no params found for policy binding"


_PODS: tuple[tuple[Body, str], ...] = (
    ({"serviceAccountName": "default"}, _IDENTITY),
    ({"serviceAccountName": ""}, _IDENTITY),
    ({"imagePullSecrets": [{"name": "x"}]}, _IDENTITY),
    ({"nodeSelector": {"a": "b"}}, _PLACEMENT),
    ({"tolerations": [{"operator": "Exists"}]}, _PLACEMENT),
    ({"schedulingGates": [{"name": "a/b"}]}, _PLACEMENT),
    ({"affinity": {"nodeAffinity": {}}}, _PLACEMENT),
    ({"initContainers": [{"name": "account", "env": [{"name": "A", "value": "b"}]}]}, _CONTAINER),
    ({"containers": [{"name": "sidecar", "volumeMounts": []}]}, _CONTAINER),
    (
        {"containers": [{"name": "node", "env": [{"name": "PATH", "value": "/x"}]}]},
        "must not set env",
    ),
    (
        {"containers": [{"name": "node", "volumeMounts": [{"name": "dshm", "mountPath": "/x"}]}]},
        _CONTAINER,
    ),
)

_PATCHED_PODS: tuple[Body, ...] = (
    {"securityContext": {"runAsUser": 0}},
    {"terminationGracePeriodSeconds": 5},
    {"containers": [{"name": "node", "securityContext": {"privileged": True}}]},
)
"""What only ``runtimePatches`` can say."""

_VOLUMES: tuple[tuple[Body, str], ...] = (
    ({"hostPath": {"path": "/"}}, _VOLUME_KIND),
    ({"nfs": {"server": "a", "path": "/"}}, _VOLUME_KIND),
    ({"csi": {"driver": "a"}}, _VOLUME_KIND),
    ({"iscsi": {"targetPortal": "a", "iqn": "b", "lun": 0}}, _VOLUME_KIND),
    ({"projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}, _VOLUME_KIND),
    ({"ephemeral": {"volumeClaimTemplate": {"spec": {}}}}, _VOLUME_KIND),
    ({"image": {"reference": "x"}}, _VOLUME_KIND),
    ({"emptyDir": {}, "hostPath": {"path": "/"}}, _VOLUME_KIND),
    ({}, _VOLUME_KIND),
    ({"emptyDir": {"medium": "HugePages"}}, _VOLUME_FORM),
    ({"emptyDir": {"sizeLimit": "0"}}, _VOLUME_FORM),
    ({"secret": {"secretName": ""}}, _VOLUME_FORM),
    ({"secret": {"secretName": "a", "defaultMode": 5000}}, _VOLUME_FORM),
    ({"configMap": {"name": ""}}, _VOLUME_FORM),
    ({"configMap": {"name": "a", "items": [{"key": "k", "path": "../x"}]}}, _VOLUME_FORM),
    ({"persistentVolumeClaim": {"claimName": ""}}, _VOLUME_FORM),
)
_TAKEN_NAMES = (
    "account",
    "dshm",
    "initializer",
    "mpi-hostfile",
    "mpi-ssh-auth",
    "ranks-home",
    "tools",
)
_BAD_NAMES = ("X", "a" * 64)

_PLACES = (
    *(
        "/",
        "/etc",
        "/etc/passwd",
        "/etc/mpi",
        "/etc/mpi/hostfile",
        "/home",
        "/home/mpiuser",
        "/home/mpiuser/.ssh",
    ),
    *(
        "/opt",
        "/opt/trainyard",
        "/proc",
        "/sys",
        "/sys/fs",
        "/dev",
        "/dev/shm",  # noqa: S108 - a path that the policy must refuse
        "/account",
        "/workspace",
    ),
    *("/workspace/x", "/a/../etc", "/a//b", "a", "/a:b"),
)
_MOUNTS: tuple[Body, ...] = (
    {"mountPath": "/x", "mountPropagation": "Bidirectional"},
    {"mountPath": "/x", "subPathExpr": "$(A)"},
    {"mountPath": "/x", "subPath": "../a"},
    {"mountPath": "/x", "subPath": "/a"},
    {"mountPath": "/x", "readOnly": False},
    {"mountPath": "/x", "recursiveReadOnly": "Enabled", "readOnly": True},
)

_ENV: tuple[list[Body], ...] = (
    [],
    [{"name": "A", "value": ""}],
    [{"name": "1A=", "value": "x"}],
    [{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}],
    [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.foo"}}}],
    [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "", "key": "a"}}}],
)
_CONTAINERS: tuple[tuple[Body, str], ...] = (
    *(({"env": env}, _TRAINER) for env in _ENV),
    *(
        ({"env": [{"name": name, "value": "none"}]}, _SCRIPTS)
        for name in ("EXPORT_COMMAND", "SSH_CRYPTO")
    ),
    ({"env": [{"name": f"A{i}", "value": "x"} for i in range(201)]}, _BYTES),
    ({"env": [{"name": "A", "value": "x" * 70_000}]}, _BYTES),
    ({"command": ["x" * 40_000], "args": ["x" * 30_000]}, _BYTES),
    ({"command": []}, _TRAINER),
    ({"args": []}, _TRAINER),
    ({"image": "A B"}, _TRAINER),
)
_TRAINERS: tuple[tuple[Body, str], ...] = (
    ({"numNodes": 0}, _NODES),
    ({"numNodes": -1}, _NODES),
    ({"numNodes": 5000}, _NODES),
    ({"numProcPerNode": 0}, _RANKS),
    ({"numProcPerNode": 9999}, _RANKS),
    ({"numProcPerNode": "auto"}, _RANKS),
    ({"resourcesPerNode": {}}, _RESOURCES),
)
_SPECS: tuple[tuple[Body, str], ...] = (
    ({"runtimeRef": {"kind": "TrainingRuntime"}}, _RUNTIME),
    ({"runtimeRef": {"name": "of-another-team"}}, _RUNTIME),
    ({"runtimeRef": {"name": ""}}, _RUNTIME),
)
_LABELS: tuple[tuple[Body, str], ...] = (
    ({"labels": {"kueue.x-k8s.io/queue-name": "other"}}, _QUEUE),
    ({"labels": {"kueue.x-k8s.io/queue-name": ""}}, _QUEUE),
    ({"labels": {"kueue.x-k8s.io/queue-name": None}}, _QUEUE),
    ({"labels": {"kueue.x-k8s.io/priority-class": "system-cluster-critical"}}, _PRIORITY),
)
_METADATA_CHANGES: tuple[tuple[Body, str], ...] = (
    ({"labels": {"kueue.x-k8s.io/prebuilt-workload-name": "x"}}, _RESERVED),
    ({"finalizers": ["orphan"]}, FINALIZER),
    *STEERING,
)

_MANAGED: tuple[Body, str] = ({"managedBy": "kueue.x-k8s.io/multikueue"}, _RESERVED)
_SPEC_CHANGES: tuple[tuple[Body, str], ...] = (
    ({"trainer": {"image": "example.com/other"}}, _FIXED),
    _MANAGED,
    ({"runtimeRef": {"name": "of-another-team"}}, _RUNTIME),
)
"""Of a job that stands."""

_NETWORK = {"annotations": {"k8s.v1.cni.cncf.io/networks": "team-other/rail-0"}}
_QUEUE_LABEL = {"labels": {"kueue.x-k8s.io/queue-name": "other"}}
_TOPOLOGY = {"annotations": {"kueue.x-k8s.io/podset-required-topology": "kubernetes.io/hostname"}}
_KUEUE = "kueue.x-k8s.io/manager"


def hostile_jobs(sample: Sample, body: Body) -> Iterator[Variant]:
    """Yield what a user could make of a sample and must not, whoever the team is."""
    for pod, words in _pods(sample):
        yield Variant(f"pod {shown(pod)}", with_pod(sample, body, pod), words)
    for trainer, words in (*_CONTAINERS, *_of_launcher(sample)):
        yield Variant(
            f"trainer {shown(trainer)}", with_change(body, {"spec": {"trainer": trainer}}), words
        )
    for spec, words in (_MANAGED, *(_patches() if patches_runtimes(sample) else _overrides())):
        yield Variant(f"spec {shown(spec)}", with_change(body, {"spec": spec}), words)
    for metadata, words in _METADATA_CHANGES:
        yield Variant(
            f"metadata {shown(metadata)}", with_change(body, {"metadata": metadata}), words
        )


def greedy_jobs(sample: Sample, body: Body) -> Iterator[Variant]:
    """Yield what is against the limits of a sample's own team and runtime."""
    for trainer, words in (*_TRAINERS, *_resources(sample)):
        yield Variant(
            f"trainer {shown(trainer)}", with_change(body, {"spec": {"trainer": trainer}}), words
        )
    for spec, words in (*_SPECS, *_steps(sample)):
        yield Variant(f"spec {shown(spec)}", with_change(body, {"spec": spec}), words)
    for metadata, words in (
        *_LABELS,
        *_deadlines(sample),
        ({"name": "a" * 60}, "metadata.name has"),
    ):
        yield Variant(
            f"metadata {shown(metadata)}", with_change(body, {"metadata": metadata}), words
        )


def hostile_changes(sample: Sample, job: Body) -> Iterator[tuple[str, Body, str]]:
    """Yield what a user could change in a job that stands and must not: what, merge patch, words."""
    forms = (form for form in ("runtimePatches", "podTemplateOverrides") if form in job["spec"])
    emptied: list[tuple[Body, str]] = [({form: None}, _FIXED) for form in forms]
    flipped: tuple[Body, str] = ({"suspend": not job["spec"].get("suspend", False)}, _FIXED)
    for spec, words in (*emptied, flipped, *_SPEC_CHANGES):
        yield f"spec {shown(spec)}", {"spec": spec}, words
    for metadata, words in (*_LABELS, *_METADATA_CHANGES, *_deadlines(sample)):
        yield f"metadata {shown(metadata)}", {"metadata": metadata}, words


def _pods(sample: Sample) -> Iterator[tuple[Body, str]]:
    """Yield changes to the pods of a job."""
    yield from _PODS
    yield from ((pod, _POD_PLATFORM) for pod in (_PATCHED_PODS if patches_runtimes(sample) else ()))
    yield from (({"volumes": [{"name": "x", **volume}]}, words) for volume, words in _VOLUMES)
    yield from (
        ({"volumes": [{"name": name, "emptyDir": {}}]}, _VOLUME_KIND) for name in _TAKEN_NAMES
    )
    yield from (
        ({"volumes": [{"name": name, "emptyDir": {}}]}, _VOLUME_FORM) for name in _BAD_NAMES
    )
    for mount in (*({"mountPath": path} for path in _PLACES), *_MOUNTS):
        container = {"name": "node", "volumeMounts": [{"name": "x", **mount}]}
        yield {"volumes": [{"name": "x", "emptyDir": {}}], "containers": [container]}, _MOUNT


def _patches() -> Iterator[tuple[Body, str]]:
    """Yield what ``runtimePatches`` (Trainer 2.2) reach beyond pods, and patches in Kueue's name."""
    for metadata in (_NETWORK, _QUEUE_LABEL, _TOPOLOGY):
        yield (
            patched(
                OWN, [{"name": "node", "template": {"spec": {"template": {"metadata": metadata}}}}]
            ),
            _METADATA,
        )
        yield patched(OWN, [{"name": "node", "template": {"metadata": metadata}}]), _METADATA
        yield {"runtimePatches": [patch(OWN, {"metadata": metadata})]}, _METADATA
    tolerant = {"spec": {"template": {"spec": {"tolerations": [{"operator": "Exists"}]}}}}
    yield patched(_KUEUE, [{"name": "node", "template": tolerant}]), _PLACEMENT
    yield {"runtimePatches": [patch(_KUEUE, {"metadata": _NETWORK})]}, _METADATA
    yield patched(OWN, [{"name": "other"}]), _METADATA
    twice = [
        patch(manager, {"spec": {"replicatedJobs": [{"name": "node"}]}})
        for manager in (OWN, f"{OWN}-too")
    ]
    yield {"runtimePatches": twice}, _METADATA


def _overrides() -> Iterator[tuple[Body, str]]:
    """Yield what ``podTemplateOverrides`` (Trainer 2.1) reach beyond pods."""
    for metadata in (_NETWORK, _QUEUE_LABEL, _TOPOLOGY):
        yield (
            {"podTemplateOverrides": [{"targetJobs": [{"name": "node"}], "metadata": metadata}]},
            _METADATA,
        )
    for targets in ([], [{"name": "other"}]):
        yield {"podTemplateOverrides": [{"targetJobs": targets, "spec": {}}]}, _METADATA
    once = {"targetJobs": [{"name": "node"}], "spec": {"volumes": [{"name": "y", "emptyDir": {}}]}}
    yield {"podTemplateOverrides": [once, once]}, _VOLUME_FORM
    yield {"labels": {"a": "b"}}, _JOBSET
    yield {"annotations": {"a": "b"}}, _JOBSET


def _resources(sample: Sample) -> Iterator[tuple[Body, str]]:
    """Yield sets of resources that are not a whole node, or a whole share; even parts are none."""
    whole = whole_node(sample)
    half = {
        name: format_amount(name, amount // 2 or 1)
        for name, amount in sample.launch.per_node.items()
    }
    for part in (half, {**half, "cpu": whole["cpu"]}, {**half, "memory": whole["memory"]}):
        yield asking(part, part), _RESOURCES
    for name in whole:
        yield asking(more := {**whole, name: "1e15"}, more), _RESOURCES
        yield (
            asking(less := {key: amount for key, amount in whole.items() if key != name}, less),
            _RESOURCES,
        )
    yield asking(none := {**whole, "cpu": "0"}, none), _RESOURCES
    yield asking({**whole, "cpu": "1"}, {**whole, "cpu": "2"}), _RESOURCES
    for name in ("example.com/x", "hugepages-2Mi"):
        yield asking(more := {**whole, name: "1"}, more), _RESOURCES


def _of_launcher(sample: Sample) -> Iterator[tuple[Body, str]]:
    if not sample.launch.runtime.launcher.mpi:
        yield {"env": [{"name": "PET_NNODES", "value": "1"}]}, "no variable that begins with PET_"


def _steps(sample: Sample) -> Iterator[tuple[Body, str]]:
    """Yield a step without its source, a source without its step, and an empty variable."""
    steps = {step.name for step in sample.launch.runtime.initializers}
    for part, name in INITIALIZERS.items():
        yield (
            {"initializer": {part: {"storageUri": "" if name in steps else "s3://example/x"}}},
            _STEPS,
        )
        yield {"initializer": {part: {"env": [{"name": "A", "value": ""}]}}}, _STEPS


def _deadlines(sample: Sample) -> Iterator[tuple[Body, str]]:
    """Yield ways around the end of a class's jobs, where one has an end."""
    key, names = "kueue.x-k8s.io/max-exec-time-seconds", "kueue.x-k8s.io/priority-class"
    for priority in (each for each in sample.space.priorities if each.deadline):
        yield {"labels": {names: None}}, _DEADLINE
        for time in (None, "x", "0", str(priority.deadline + 1)):
            yield {"labels": {names: priority.name, key: time}}, _DEADLINE
