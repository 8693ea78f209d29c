"""Kueue, JobSet and Trainer as processes, with their objects, configuration and accounts."""

from __future__ import annotations

import base64
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainyard import programs
from trainyard.diagnostics import ToolError
from trainyard.yaml_io.manifests import parse_manifests
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.components import Controller
from trainyard_rehearsal.control_plane.endpoint import Endpoint
from trainyard_rehearsal.control_plane.processes import (
    LOOPBACK,
    START,
    answers,
    free_ports,
)

_CONVERTED = "kueue.x-k8s.io"
"""Group whose CRDs ship a conversion webhook in a patch that kustomize applies to a Service."""

_KINDS = {
    "jobset": "config.jobset.x-k8s.io/v1alpha1",
    "kueue": "config.kueue.x-k8s.io/v1beta2",
    "trainer": "config.trainer.kubeflow.org/v1alpha1",
}
_NAMED = ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
_BINDINGS = ("ClusterRoleBinding", "RoleBinding")

_METRICS_CERTIFICATES = "/etc/kueue/metrics/certs"
"""Folder that is hard-coded in Kueue (cmd/kueue/main.go@v0.19.2).

A private mount namespace has it.
"""

_PRIVATE_ETC = (
    f"mount -t tmpfs none /etc && mkdir -p {_METRICS_CERTIFICATES}"
    f' && cp "$1"/tls.crt "$1"/tls.key {_METRICS_CERTIFICATES} && shift && exec "$@"'
)


@dataclass(frozen=True, slots=True)
class Running:
    """A controller, and the port of its webhooks.

    Args:
        endpoint: the control plane.
        tree: folder of the cluster's tree, which may contain its configuration.
    """

    controller: Controller
    endpoint: Endpoint
    port: int
    tree: Path

    @property
    def name(self) -> str:
        """Name of the controller."""
        return self.controller.name

    def _objects(self, folder: str) -> Iterator[Body]:
        """Yield the objects that kustomize builds from a folder of the controller's module."""
        manifests = self.endpoint.built.manifests[self.name]
        yield from kustomized(self.endpoint.built.programs["kubectl"], manifests.parent / folder)

    def crds(self) -> Iterator[Body]:
        """Yield its custom resources; the process itself serves their conversion webhooks."""
        for body in self._objects(self.controller.crds):
            if body["spec"].get("conversion", {}).get("strategy") == "Webhook":
                client = self._client("/convert")
                webhook = {"clientConfig": client, "conversionReviewVersions": ["v1"]}
                body["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
            yield body

    def roles(self) -> Iterator[Body]:
        """Yield its account of production, and its roles, bound to that account."""
        namespace, account = self._account
        yield {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": account, "namespace": namespace},
        }
        subject = {"kind": "ServiceAccount", "name": account, "namespace": namespace}
        for body in self._objects(self.controller.roles):
            if body["kind"] not in _NAMED:
                continue
            metadata = body["metadata"]
            metadata["name"] = self._prefixed(metadata["name"])
            if body["kind"] in {"Role", "RoleBinding"}:
                metadata["namespace"] = namespace
            if body["kind"] in _BINDINGS:
                body["roleRef"]["name"] = self._prefixed(body["roleRef"]["name"])
                body["subjects"] = [dict(subject)]
            yield body

    def _prefixed(self, name: str) -> str:
        return name if name.startswith(self.name) else f"{self.name}-{name}"

    @property
    def _account(self) -> tuple[str, str]:
        """Namespace and name of its account."""
        _, _, namespace, account = self.controller.account.split(":")
        return namespace, account

    def webhooks(self) -> Iterator[Body]:
        """Yield its webhooks, served on this machine, for jobs in the same namespaces as usual."""
        labels = self.controller.webhook_namespaces
        for body in self._objects(self.controller.webhooks):
            if body["kind"] == "Service":
                continue
            body["metadata"]["name"] = f"{self.name}-{body['metadata']['name']}"
            for webhook in body["webhooks"]:
                webhook["clientConfig"] = self._client(webhook["clientConfig"]["service"]["path"])
                own = any(_CONVERTED in rule["apiGroups"] for rule in webhook["rules"])
                if labels and not own:
                    webhook["namespaceSelector"] = {"matchLabels": dict(labels)}
            yield body

    def _client(self, path: str) -> Body:
        bundle = base64.b64encode(self.endpoint.certificates.authority.read_bytes()).decode()
        return {"url": f"https://{self.endpoint.address}:{self.port}{path}", "caBundle": bundle}

    def start(self, api: Api) -> None:
        """Start the process with a token of its account.

        Raises:
            ToolError: it can't be started.
        """
        namespace, account = self._account
        self.endpoint.write_kubeconfig(self.name, {"token": api.token(account, namespace)})
        configuration = self.endpoint.folder / f"{self.name}.json"
        configuration.write_text(json.dumps(self._configuration()), encoding="utf-8")
        program = self.endpoint.built.programs[self.name]
        arguments = [
            "--kubeconfig",
            str(self.endpoint.kubeconfig(self.name)),
            "--config",
            str(configuration),
        ]
        # JobSet and Trainer read certificates from Go's folder of temporary files.
        serving = self.endpoint.folder / self.name / "k8s-webhook-server" / "serving-certs"
        shutil.copytree(self.endpoint.certificates.folder, serving, dirs_exist_ok=True)
        environment = {"TMPDIR": str(self.endpoint.folder / self.name)}
        if self.name == "kueue":
            self.endpoint.processes.start_as(
                self.name, [*_private(serving), str(program), *arguments], environment
            )
        else:
            self.endpoint.processes.start(program, arguments, environment)

    def is_serving(self) -> bool:
        """Return whether its webhooks answer."""
        return answers(self.port, self.endpoint.address)

    def _configuration(self) -> Body:
        health, metrics = free_ports(2)
        certificates = str(self.endpoint.certificates.folder)
        manages = "certManagement" if self.name == "trainer" else "internalCertManagement"
        given = self.configuration
        own: Body = {
            "apiVersion": _KINDS[self.name],
            "kind": "Configuration",
            "leaderElection": {"leaderElect": False},
            "health": {"healthProbeBindAddress": f"{LOOPBACK}:{health}"},
            "metrics": {**given.get("metrics", {}), "bindAddress": f"{LOOPBACK}:{metrics}"},
            "webhook": {"host": self.endpoint.address, "port": self.port},
            manages: {"enable": False},
        }
        if self.name != "trainer":
            own["webhook"]["certDir"] = certificates
        if self.name == "kueue":
            own |= {
                "namespace": self.controller.namespace,
                "featureGates": {"VisibilityOnDemand": False},
            }
        if self.name == "jobset":
            own["metrics"]["certDir"] = certificates
        return given | own

    @property
    def configuration(self) -> dict[str, Any]:
        """The configuration of the tree, else that of the release."""
        if not self.controller.configuration:
            return dict(self.controller.settings)
        text = (self.tree / self.controller.configuration).read_text(encoding="utf-8")
        (body,) = parse_manifests(text)
        assert isinstance(body, dict)
        return body


def kustomized(kubectl: Path, folder: Path) -> list[Body]:
    """Return the objects that kustomize builds from a folder.

    Raises:
        ToolError: kustomize can't build it.
    """
    done = programs.run([kubectl, "kustomize", folder], timeout=programs.AN_HOUR)
    return [body for body in parse_manifests(done.stdout) if isinstance(body, dict)]


def start(running: Mapping[str, Running], api: Api) -> None:
    """Start controllers whose kinds are already served, and register their webhooks.

    Raises:
        ToolError: a controller ends, or takes too long.
    """
    for each in running.values():
        for body in each.roles():
            api.apply(body)
        each.start(api)
    for each in running.values():
        each.endpoint.processes.wait_until(each.is_serving, f"the start of {each.name}", START)
        for body in each.webhooks():
            api.apply(body)


def _private(certificates: Path) -> list[str]:
    """Return the start of a command line that runs the rest with a private /etc.

    Raises:
        ToolError: this machine allows no private mount namespace.
    """
    for who in ([], ["--user", "--map-root-user"]):
        wrapper = ["unshare", *who, "--mount", "sh", "-c"]
        try:
            done = programs.run(
                [*wrapper, "mount -t tmpfs none /etc"],
                environment=os.environ,
                timeout=programs.AN_HOUR,
                accept=programs.ANY_CODE,
            )
        except programs.NotStartedError:
            break
        if done.code == 0:
            return [*wrapper, _PRIVATE_ETC, "sh", str(certificates)]
    raise ToolError(
        f"Kueue reads certificates from {_METRICS_CERTIFICATES}, and this machine allows no "
        "private mount namespace to put them there; run the rehearsal as root, or allow "
        "unprivileged user namespaces"
    )
