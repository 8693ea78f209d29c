"""What the API server and the webhooks of Trainer and Kueue refuse in a TrainJob's own form.

Sources: kubeflow/trainer:manifests/base/crds/trainer.kubeflow.org_trainjobs.yaml,
pkg/runtime/framework/plugins/{jobset,mpi} @v2.1.0 and @v2.3.0;
kubernetes-sigs/kueue:pkg/controller/jobframework/{defaults,validation}.go@v0.19.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from trainyard.model.lookup import mapping, mappings, value_at
from trainyard.model.names import DEFAULT_QUEUE
from trainyard_jobs.fit.limit_range import containers_of
from trainyard_jobs.fit.merge import merged
from trainyard_jobs.fit.pods import changes_of

Body = dict[str, Any]

_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://.+")
_MANAGER = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9/\-._~%!$&'()*+,;=:]+", re.ASCII)
QUEUE = "kueue.x-k8s.io/queue-name"
"""Label of a job that names its LocalQueue."""
LONGEST_NAME = 63
"""Most characters of a job's name that Trainer takes; those that its pods need leave fewer."""
_LONGEST_TIME = "kueue.x-k8s.io/max-exec-time-seconds"
_KUEUE = "kueue.x-k8s.io/manager"
_RESERVED = (
    "OMPI_MCA_orte_default_hostfile",
    "OMPI_MCA_orte_keep_fqdn_hostnames",
    "OMPI_MCA_orte_set_default_slots",
    "OMPI_MCA_plm_rsh_args",
)
_LIST_KEYS = {
    "containers": "name",
    "env": "name",
    "imagePullSecrets": "name",
    "initContainers": "name",
    "replicatedJobs": "name",
    "runtimePatches": "manager",
    "schedulingGates": "name",
    "volumeMounts": "name",
    "volumes": "name",
}
"""Lists whose members differ in a key, as the custom resource declares them."""


def defaulted(job: Body, *, patches_runtimes: bool, has_default_queue: bool) -> Body:
    """Return a job with what the API server and Kueue's webhook add before it is judged.

    Args:
        job: with its namespace.
        patches_runtimes: whether its Trainer has ``runtimePatches`` (2.2).
        has_default_queue: whether its namespace has a LocalQueue for jobs without a label.
    """
    if has_default_queue and not mapping(job, "metadata", "labels").get(QUEUE):
        job = merged(job, {"metadata": {"labels": {QUEUE: DEFAULT_QUEUE}}})
    spec = dict(mapping(job, "spec"))
    reference = {"apiGroup": "trainer.kubeflow.org", "kind": "ClusterTrainingRuntime"}
    spec["runtimeRef"] = {**reference, **mapping(spec, "runtimeRef")}
    spec.setdefault("managedBy", "trainer.kubeflow.org/trainjob-controller")
    spec["suspend"] = True
    if patches_runtimes:
        own = {"manager": _KUEUE, "trainingRuntimeSpec": {"template": {"spec": {}}}}
        spec["runtimePatches"] = [*mappings(spec, "runtimePatches"), own]
    return {**job, "spec": spec}


def form_faults(job: Body, *, longest_name: int, patches_runtimes: bool) -> Iterator[str]:
    """Yield what is wrong in a job that fits its schema.

    Args:
        job: with its defaults.
        longest_name: most characters of a job's name with its runtime; Trainer takes 63.
        patches_runtimes: whether its Trainer has ``runtimePatches`` (2.2) and their checks.
    """
    yield from _name_faults(mapping(job, "metadata"), longest_name)
    spec = mapping(job, "spec")
    patches = mappings(spec, "runtimePatches")
    others = [patch for patch in patches if patch.get("manager") != _KUEUE]
    if len(others) < len(patches) - 1:
        yield f"spec.runtimePatches: manager {_KUEUE} is Kueue's; choose another"
    for path in _repeated({**spec, "runtimePatches": others}, "spec"):
        yield f"{path}: Duplicate value"
    if patches_runtimes:
        yield from _source_faults(job)
        yield from _manager_faults(others)


def _name_faults(metadata: Body, longest: int) -> Iterator[str]:
    name = str(metadata.get("name", ""))
    if not _NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        yield (
            f"metadata.name: at most {longest} of a-z, 0-9 and -, a letter first, a letter or "
            "digit last"
        )
    labels = mapping(metadata, "labels")
    seconds = str(labels.get(_LONGEST_TIME, "1"))
    # A label has at most 63 characters, which the API server demands later.
    if not re.fullmatch(r"\+?[0-9]{1,63}", seconds, re.ASCII) or not 0 < int(seconds) < 1 << 63:
        yield f"metadata.labels[{_LONGEST_TIME}]: {seconds[:63]!r} is not a number above 0"


def _manager_faults(patches: Iterable[Body]) -> Iterator[str]:
    for patch in patches:
        if not _MANAGER.fullmatch(str(patch.get("manager", ""))):
            yield f"spec.runtimePatches: manager {patch.get('manager')!r} is not a domain and path"


def _source_faults(job: Body) -> Iterator[str]:
    for part in ("dataset", "model"):
        uri = value_at(job, f"spec.initializer.{part}.storageUri")
        if uri and not _URI.fullmatch(str(uri)):
            yield f"spec.initializer.{part}.storageUri: {uri!r} is not a URI"


def _repeated(body: Any, path: str) -> Iterator[str]:
    """Yield the path of each list with two members of one key."""
    if isinstance(body, list):
        for index, member in enumerate(body):
            yield from _repeated(member, f"{path}[{index}]")
    elif isinstance(body, dict):
        for name, value in body.items():
            below = f"{path}.{name}"
            if name in _LIST_KEYS and _has_repeated(value, _LIST_KEYS[name]):
                yield below
            yield from _repeated(value, below)


def _has_repeated(members: Any, key: str) -> bool:
    if not isinstance(members, list):
        return False
    names = [member.get(key) for member in members if isinstance(member, dict)]
    return len(set(names)) < len(names)


def trainer_faults(job: Body, runtime: Body, *, patches_runtimes: bool) -> Iterator[str]:
    """Yield what Trainer's webhook refuses in a job with its runtime."""
    containers = _containers(runtime)
    for part in ("dataset", "model"):
        step = f"{part}-initializer"
        if mapping(job, "spec", "initializer").get(part) is not None and step not in containers:
            yield f"spec.initializer.{part}: the runtime has no job {step}"
    yield from _change_faults(job, containers)
    if patches_runtimes and mapping(runtime, "spec", "mlPolicy", "mpi"):
        names = {str(variable.get("name")) for variable in mappings(job, "spec", "trainer", "env")}
        for name in sorted(names.intersection(_RESERVED)):
            yield f"spec.trainer.env: {name} is Trainer's"


def _containers(runtime: Body) -> dict[str, set[str]]:
    """Return the names of the containers of each replicated job of a runtime."""
    containers = {}
    for replicated_job in mappings(runtime, "spec", "template", "spec", "replicatedJobs"):
        template = mapping(replicated_job, "template", "spec", "template")
        names = {str(container.get("name")) for container in containers_of(template)}
        containers[str(replicated_job.get("name"))] = names
    return containers


def _change_faults(job: Body, containers: dict[str, set[str]]) -> Iterator[str]:
    """Yield changes of jobs and containers that the runtime does not have."""
    for role, change in changes_of(job):
        if role not in containers:
            yield f"the runtime has no job {role!r} to change"
            continue
        for container in containers_of(change):
            name = container.get("name")
            if name not in containers[role]:
                yield f"job {role} of the runtime has no container {name!r} to change"
            elif container.get("env"):
                yield f"a change of container {name} must not set env"
