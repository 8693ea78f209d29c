"""The MPI operator beside a control plane, with its own roles."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from tests.e2e.engines import MPI_OPERATOR, engine
from trainyard.yaml_io.emitter import emit
from trainyard.yaml_io.manifests import parse_manifests
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.lab import Lab

VERSION = "kubeflow.org/v2beta1"
_ACCOUNT = _NAMESPACE = "mpi-operator"
_RESUME = "mpi-operator-resume"


def crd(folder: Path) -> Path:
    """Write the operator's CRD to a folder, and return its path.

    kube-controller-manager must find it when it starts: it looks for new kinds every 5 minutes,
    and until then each quota that counts MPIJobs refuses them.
    """
    (body,) = (each for each in _shipped() if each["kind"] == "CustomResourceDefinition")
    path = folder / "mpi-operator-crd.yaml"
    path.write_bytes(emit(body))
    return path


def start(lab: Lab) -> None:
    """Start the operator with the account and the roles that it ships."""
    for body in _shipped():
        if body["kind"] not in {"CustomResourceDefinition", "Deployment"}:
            lab.api.apply(body)
    arguments = [*_kubeconfig(lab), "-kube-api-qps", "50"]
    lab.processes.start(engine(MPI_OPERATOR), arguments)


def _shipped() -> Iterator[Body]:
    """Yield the objects that the operator's project publishes."""
    path = engine(MPI_OPERATOR).parent / "mpi-operator.yaml"
    for body in parse_manifests(path.read_text(encoding="utf-8")):
        assert isinstance(body, dict)
        yield body


def _kubeconfig(lab: Lab) -> list[str]:
    """Return the argument with a kubeconfig of the operator's account."""
    config = json.loads(lab.kubeconfig.read_text(encoding="utf-8"))
    config["users"][0]["user"] = {"token": lab.api.token(_ACCOUNT, _NAMESPACE)}
    path = lab.kubeconfig.with_name("mpi-operator.kubeconfig")
    path.write_text(json.dumps(config), encoding="utf-8")
    return ["-kubeConfig", str(path)]


def may_resume(api: Api) -> None:
    """Give the operator the right that its role lacks, as the how-to does."""
    group = "rbac.authorization.k8s.io"
    rule = {"apiGroups": ["batch"], "resources": ["jobs/status"], "verbs": ["update"]}
    role: Body = {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": _RESUME},
        "rules": [rule],
    }
    subject = {"kind": "ServiceAccount", "name": _ACCOUNT, "namespace": _NAMESPACE}
    binding = {
        **role,
        "kind": "ClusterRoleBinding",
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": _RESUME},
        "subjects": [subject],
    }
    del binding["rules"]
    for body in (role, binding):
        api.apply(body)
