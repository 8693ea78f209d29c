"""Changes to the pods of a TrainJob that a cluster must refuse, each with its refusal."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.model.space import Sample
from trainyard_rehearsal.checks.refusals import (
    CONTAINER,
    IDENTITY,
    MOUNT,
    NAME_FORM,
    PLACEMENT,
    POD_PLATFORM,
    VOLUME_FORM,
    VOLUME_KIND,
)
from trainyard_rehearsal.checks.variants import patches_runtimes
from trainyard_rehearsal.control_plane.api import Body

_PODS: tuple[tuple[Body, str], ...] = (
    ({"serviceAccountName": "default"}, IDENTITY),
    ({"serviceAccountName": ""}, IDENTITY),
    ({"imagePullSecrets": [{"name": "x"}]}, IDENTITY),
    ({"nodeSelector": {"a": "b"}}, PLACEMENT),
    ({"tolerations": [{"operator": "Exists"}]}, PLACEMENT),
    ({"schedulingGates": [{"name": "a/b"}]}, PLACEMENT),
    ({"affinity": {"nodeAffinity": {}}}, PLACEMENT),
    ({"initContainers": [{"name": "account", "env": [{"name": "A", "value": "b"}]}]}, CONTAINER),
    ({"containers": [{"name": "sidecar", "volumeMounts": []}]}, CONTAINER),
    (
        {"containers": [{"name": "node", "env": [{"name": "PATH", "value": "/x"}]}]},
        "must not set env",
    ),
    (
        {"containers": [{"name": "node", "volumeMounts": [{"name": "dshm", "mountPath": "/x"}]}]},
        CONTAINER,
    ),
)

_PATCHED_PODS: tuple[Body, ...] = (
    {"securityContext": {"runAsUser": 0}},
    {"terminationGracePeriodSeconds": 5},
    {"containers": [{"name": "node", "securityContext": {"privileged": True}}]},
)
"""Changes that only ``runtimePatches`` can express."""

_VOLUMES: tuple[tuple[Body, str], ...] = (
    ({"hostPath": {"path": "/"}}, VOLUME_KIND),
    ({"nfs": {"server": "a", "path": "/"}}, VOLUME_KIND),
    ({"csi": {"driver": "a"}}, VOLUME_KIND),
    ({"iscsi": {"targetPortal": "a", "iqn": "b", "lun": 0}}, VOLUME_KIND),
    ({"projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}, VOLUME_KIND),
    ({"ephemeral": {"volumeClaimTemplate": {"spec": {}}}}, VOLUME_KIND),
    ({"image": {"reference": "x"}}, VOLUME_KIND),
    ({"emptyDir": {}, "hostPath": {"path": "/"}}, VOLUME_KIND),
    ({}, VOLUME_KIND),
    ({"emptyDir": {"medium": "HugePages"}}, VOLUME_FORM),
    ({"emptyDir": {"sizeLimit": "0"}}, VOLUME_FORM),
    ({"emptyDir": {"sizeLimit": "1e1000"}}, VOLUME_FORM),
    ({"secret": {"secretName": ""}}, VOLUME_FORM),
    ({"secret": {"secretName": "a", "defaultMode": 5000}}, VOLUME_FORM),
    ({"secret": {"secretName": "a", "defaultMode": -1}}, VOLUME_FORM),
    ({"configMap": {"name": "a", "items": [{"key": "k", "path": "x", "mode": -1}]}}, VOLUME_FORM),
    ({"configMap": {"name": "a", "items": [{"key": "..", "path": "x"}]}}, VOLUME_FORM),
    ({"secret": {"secretName": "a..b"}}, NAME_FORM),
    ({"persistentVolumeClaim": {"claimName": "a.-b"}}, NAME_FORM),
    ({"configMap": {"name": ""}}, VOLUME_FORM),
    ({"configMap": {"name": "a", "items": [{"key": "k", "path": "../x"}]}}, VOLUME_FORM),
    ({"persistentVolumeClaim": {"claimName": ""}}, VOLUME_FORM),
    ({"persistentVolumeClaim": {"claimName": "Not A Name"}}, VOLUME_FORM),
    ({"secret": {"secretName": "Not A Name"}}, VOLUME_FORM),
    ({"configMap": {"name": "a", "items": [{"key": "a b", "path": "x"}]}}, VOLUME_FORM),
    ({"emptyDir": {}, "iscsi": {"targetPortal": "a", "iqn": "b", "lun": 0}}, VOLUME_KIND),
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
    *("/workspace/x", "/a/../etc", "/a//b", "a", "/a:b", "/" + "a" * 256, "/a" * 513),
)
_MOUNTS: tuple[Body, ...] = (
    {"mountPath": "/x", "mountPropagation": "Bidirectional"},
    {"mountPath": "/x", "subPathExpr": "$(A)"},
    {"mountPath": "/x", "subPath": "../a"},
    {"mountPath": "/x", "subPath": "/a"},
    {"mountPath": "/x", "subPath": "a" * 256},
    {"mountPath": "/x", "readOnly": False},
    {"mountPath": "/x", "recursiveReadOnly": "Enabled", "readOnly": True},
)


def hostile_pods(sample: Sample) -> Iterator[tuple[Body, str]]:
    """Yield changes to the pods of a job, in the form of a pod's spec."""
    yield from _PODS
    if patches_runtimes(sample):
        for pod in _PATCHED_PODS:
            yield pod, POD_PLATFORM
    for volume, refusal in _VOLUMES:
        yield {"volumes": [{"name": "x", **volume}]}, refusal
    for name in _TAKEN_NAMES:
        yield {"volumes": [{"name": name, "emptyDir": {}}]}, VOLUME_KIND
    for name in _BAD_NAMES:
        yield {"volumes": [{"name": name, "emptyDir": {}}]}, VOLUME_FORM
    for path in _PLACES:
        yield _mounting({"mountPath": path}), MOUNT
    for mount in _MOUNTS:
        yield _mounting(mount), MOUNT
    yield _mounting({"mountPath": "/x"}, {"mountPath": "/x"}), VOLUME_FORM


def _mounting(*mounts: Body) -> Body:
    """Return a change by which each mount has a volume of its own."""
    named = [{"name": f"x{index}", **mount} for index, mount in enumerate(mounts)]
    volumes = [{"name": mount["name"], "emptyDir": {}} for mount in named]
    return {"volumes": volumes, "containers": [{"name": "node", "volumeMounts": named}]}
