"""The pods of an MPIJob: their main container, image, GPUs and environment."""

from __future__ import annotations

import re
from fractions import Fraction

from trainyard.model.lookup import mapping
from trainyard.model.quantity import parse_amount
from trainyard.model.variables import POD_FIELDS, REFUSED
from trainyard_jobs.convert import options
from trainyard_jobs.convert.model import Body, Kind
from trainyard_jobs.convert.mpijob.fields import PYTORCHJOB, Fields, Path
from trainyard_jobs.convert.mpijob.suspects import in_value

_GPU = re.compile(r"nvidia\.com/(?:gpu(?:\.shared)?|mig-.+)")
_SLICE = re.compile(r"nvidia\.com/mig-.+|.+\.shared")
_ACCELERATOR = re.compile(
    r".+/(?:gpu|gaudi|tpu|npu|dcu|mlu|i915|xe|neuron|neurondevice|Ascend\w+)|squat\.ai/.+"
)
"""Devices of other makers, of which a rank has as many as it would have GPUs."""
_ORDINARY = re.compile(r"cpu|memory|ephemeral-storage")
_OF_NODE = re.compile(
    r"hugepages-.+|.*(?:rdma|sriov|roce|infiniband|mlnx|netdev).*|.+/(?:hca|efa|nic).*"
)
"""Resources that no program computes with."""
_NAME = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")


_OF_PYTORCH = "pytorch"
"""Name of the container (kubeflow/trainer:pkg/apis/kubeflow.org/v1/pytorch_types.go@v1.9.3)."""


def main_container(fields: Fields, role: str) -> Path:
    """Return the path of the container of a role that the operator prepares.

    It is the first, of a PyTorchJob the one with its name. Of a v1 MPIJob, `kubectl exec` may start
    the ranks of the workers in another one
    (kubeflow/trainer:pkg/controller.v1/mpi/mpijob_controller.go@v1.9.3).
    """
    path = fields.role(role, "template", "spec", "containers")
    named = fields.text("spec", "mainContainer") if role == "Worker" else ""
    if fields.kind == PYTORCHJOB:
        named = _OF_PYTORCH
    for at, body in fields.members(*path):
        if named and body.get("name") == named:
            return at
    return (*path, 0)


def gpus(fields: Fields, container: Path) -> int | None:
    """Return the GPUs of a container; None where what it asks for may be an accelerator."""
    total, is_known = 0, not fields.sequence(*container, "resources", "claims")
    for name, (_, value) in _resources(fields, container).items():
        if _GPU.fullmatch(name) or _ACCELERATOR.fullmatch(name):
            total += _whole(value)
        elif not (_ORDINARY.fullmatch(name) or _OF_NODE.fullmatch(name)):
            is_known = False
    return total if total or is_known else None


def note_devices(fields: Fields, container: Path) -> None:
    """Note the resources that the runtime asks for by other names."""
    has_gpus = gpus(fields, container)
    for name, (path, _) in _resources(fields, container).items():
        kind, text = _meaning(name, has_gpus)
        if text:
            fields.note(kind, path, f"resource {name}", text)
    claims = (*container, "resources", "claims")
    if fields.sequence(*claims):
        text = "no TrainJob claims devices (DRA): choose a runtime on nodes with such ones"
        fields.note(Kind.CHOOSE, claims, "resources.claims", text)


def _meaning(name: str, has_gpus: int | None) -> tuple[Kind, str]:
    """Return kind and text of the note about a resource; an empty text for none."""
    if _SLICE.fullmatch(name):
        return Kind.CHOOSE, "a part of a GPU is not given: choose a runtime with parts of a node"
    if _GPU.fullmatch(name) or _ORDINARY.fullmatch(name):
        return Kind.DROPPED, ""
    if _ACCELERATOR.fullmatch(name):
        return Kind.CHOOSE, (
            "the job gets as many GPUs of its runtime in its place: image and program must be "
            "built for them"
        )
    if has_gpus is None and not _OF_NODE.fullmatch(name):
        return Kind.CHOOSE, (
            "no runtime asks for it: if the program computes with it, choose a runtime on nodes "
            "with GPUs, and an image that is built for them"
        )
    return Kind.DROPPED, (
        "pods have GPUs, cpu, memory and one port of each rail, as the runtime says"
    )


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
    for name, (path, variable) in variables.items():
        for kind, what, meaning in in_value(variable.get("value", "")):
            fields.note(kind, path, f"variable {name}, {what}", meaning)
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
        return "it would name what the runtime gives a pod; write the number"
    field = str(mapping(body, "valueFrom", "fieldRef").get("fieldPath", "metadata.name"))
    return "" if field in POD_FIELDS else f"a TrainJob may not name {field}"
