"""The pods of an MPIJob: their main container, image, GPUs and environment."""

from __future__ import annotations

import re
from fractions import Fraction

from trainyard.model.lookup import mapping
from trainyard.model.quantity import parse_amount
from trainyard.model.variables import REFUSED
from trainyard_jobs.convert import options
from trainyard_jobs.convert.model import Body, Kind
from trainyard_jobs.convert.mpijob.fields import Fields, Path
from trainyard_jobs.convert.mpijob.meanings import REPLICAS
from trainyard_jobs.convert.words import words

_GPU = re.compile(r".+/gpu(\.shared)?|nvidia\.com/mig-.+|habana\.ai/gaudi")
_SLICE = re.compile(r"nvidia\.com/mig-.+|.+\.shared")
_ORDINARY = frozenset({"cpu", "memory", "ephemeral-storage"})
FIELDS = words(
    "metadata.name metadata.namespace metadata.uid spec.nodeName status.hostIP status.podIP"
)
_NAME = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")


def template(role: str) -> Path:
    """Return the path of the pod template of a role."""
    return (*REPLICAS, role, "template")


def main_container(fields: Fields, role: str) -> Path:
    """Return the path of the container of a role that the operator prepares.

    It is the first. Of a v1 MPIJob, `kubectl exec` may start the ranks of the workers in another
    one (kubeflow/trainer:pkg/controller.v1/mpi/mpijob_controller.go@v1.9.3).
    """
    path = (*template(role), "spec", "containers")
    named = fields.text("spec", "mainContainer") if role == "Worker" else ""
    for at, body in fields.members(*path):
        if named and body.get("name") == named:
            return at
    return (*path, 0)


def gpus(fields: Fields, container: Path) -> int:
    """Return the GPUs of a container."""
    total = 0
    for name, (path, value) in _resources(fields, container).items():
        if _GPU.fullmatch(name):
            total += _whole(value)
            if _SLICE.fullmatch(name):
                text = "a part of a GPU is not given: choose a runtime with parts of a node"
                fields.note(Kind.CHOOSE, path, f"resource {name}", text)
    return total


def note_devices(fields: Fields, container: Path) -> None:
    """Note the resources that the runtime asks for by other names."""
    for name, (path, _) in _resources(fields, container).items():
        if name not in _ORDINARY and not _GPU.fullmatch(name):
            text = "pods have GPUs, cpu, memory and one port of each rail, as the runtime says"
            fields.note(Kind.DROPPED, path, f"resource {name}", text)


def _resources(fields: Fields, container: Path) -> dict[str, tuple[Path, object]]:
    """Return the resources of a container with their places; requests count as limits do."""
    resources: dict[str, tuple[Path, object]] = {}
    for part in ("requests", "limits"):
        path = (*container, "resources", part)
        for name, amount in fields.mapping(*path).items():
            resources[name] = ((*path, name), amount)
    return resources


def _whole(value: object) -> int:
    try:
        return int(Fraction(parse_amount(str(value))))
    except ValueError:
        return 0


def environment(fields: Fields, containers: list[Path]) -> dict[str, tuple[Path, Body]]:
    """Return the variables of the ranks by name, with their places.

    Args:
        fields: of the job.
        containers: whose variables they are; those of a later one stand.
    """
    variables: dict[str, tuple[Path, Body]] = {}
    for container in containers:
        fields.take(*container, "env")
        for path, body in fields.members(*container, "env"):
            name = str(body.get("name", ""))
            if reason := _unfit(name, body):
                kind = Kind.CHOOSE if "valueFrom" in body else Kind.DROPPED
                fields.note(kind, path, f"variable {name}", reason)
                continue
            variable = _variable(name, body)
            if variables.get(name, (path, variable))[1] != variable:
                text = "launcher and workers differ; every rank has the launcher's value"
                fields.note(Kind.CHANGED, path, f"variable {name}", text)
            variables[name] = (path, variable)
    return variables


def _variable(name: str, body: Body) -> Body:
    if "valueFrom" in body:
        return {"name": name, "valueFrom": body["valueFrom"]}
    return {"name": name, "value": str(body.get("value"))}


def _unfit(name: str, body: Body) -> str:
    """Return why a TrainJob can't have a variable; empty when it can."""
    if not _NAME.fullmatch(name):
        return "its name is none for a TrainJob"
    if name in REFUSED:
        return "the platform's own scripts or the container runtime obey it"
    if "valueFrom" not in body:
        value = body.get("value")
        empty = "an empty value keeps a TrainJob from starting" if value in (None, "") else ""
        return empty or options.variable(name, str(value))
    if mapping(body, "valueFrom", "resourceFieldRef"):
        return "the TrainJob has no resources that it could name; write the number"
    field = str(mapping(body, "valueFrom", "fieldRef").get("fieldPath", "metadata.name"))
    return "" if field in FIELDS else f"a TrainJob may not name {field}"
