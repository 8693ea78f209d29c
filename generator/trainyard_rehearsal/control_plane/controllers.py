"""Kueue, JobSet and Trainer as processes: what they bring, their configuration, and whom they act as."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainyard.diagnostics import ToolError
from trainyard.yaml_io.manifests import parse_manifests
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.components import Controller
from trainyard_rehearsal.control_plane.endpoint import Endpoint
from trainyard_rehearsal.control_plane.processes import (
    LOOPBACK,
    START,
    answers,
    dying_with_parent,
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
"""Hard-coded in Kueue (cmd/kueue/main.go@v0.19.2): given to it in a mount namespace of its own."""

_PRIVATE_ETC = (
    f"mount -t tmpfs none /etc && mkdir -p {_METRICS_CERTIFICATES}"
    f' && cp "$1"/tls.crt "$1"/tls.key {_METRICS_CERTIFICATES} && shift && exec "$@"'
)


@dataclass(frozen=True, slots=True)
class Running:
    """A controller and where its webhooks listen.

    Args:
        manifests: folder that its module brought.
        tree: folder of the cluster, for a configuration that stands there.
    """

    controller: Controller
    place: Endpoint
    port: int
    tree: Path

    @property
    def name(self) -> str:
        """Name of the controller."""
        return self.controller.name

    def _objects(self, folder: str) -> Iterator[Body]:
        """Yield what kustomize makes of a folder that the controller's module brought."""
        manifests = self.place.built.manifests[self.name]
        yield from kustomized(self.place.built.programs["kubectl"], manifests.parent / folder)

    def crds(self) -> Iterator[Body]:
        """Yield its custom resources, converted by the process where a webhook converts them."""
        for body in self._objects(self.controller.crds):
            if body["spec"].get("conversion", {}).get("strategy") == "Webhook":
                client = self._client("/convert")
                webhook = {"clientConfig": client, "conversionReviewVersions": ["v1"]}
                body["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
            yield body

    def roles(self) -> Iterator[Body]:
        """Yield the account that it has in production, and its roles bound to that."""
        namespace, account = self._account
        yield {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": account, "namespace": namespace},
        }
        for body in (
            each for each in self._objects(self.controller.roles) if each["kind"] in _NAMED
        ):
            prefix = "" if body["metadata"]["name"].startswith(self.name) else f"{self.name}-"
            body["metadata"]["name"] = f"{prefix}{body['metadata']['name']}"
            if body["kind"] in {"Role", "RoleBinding"}:
                body["metadata"]["namespace"] = namespace
            if body["kind"] in _BINDINGS:
                role = body["roleRef"]["name"]
                body["roleRef"]["name"] = (
                    role if role.startswith(self.name) else f"{self.name}-{role}"
                )
                body["subjects"] = [
                    {"kind": "ServiceAccount", "name": account, "namespace": namespace}
                ]
            yield body

    @property
    def _account(self) -> tuple[str, str]:
        """Namespace and name."""
        _, _, namespace, account = self.controller.account.split(":")
        return namespace, account

    def webhooks(self) -> Iterator[Body]:
        """Yield its webhooks, called on this machine, for jobs in the namespaces that production calls them for."""
        for body in (
            each for each in self._objects(self.controller.webhooks) if each["kind"] != "Service"
        ):
            body["metadata"]["name"] = f"{self.name}-{body['metadata']['name']}"
            for webhook in body["webhooks"]:
                webhook["clientConfig"] = self._client(webhook["clientConfig"]["service"]["path"])
                own = any(_CONVERTED in rule["apiGroups"] for rule in webhook["rules"])
                if self.controller.webhook_namespaces and not own:
                    webhook["namespaceSelector"] = {
                        "matchLabels": dict(self.controller.webhook_namespaces)
                    }
            yield body

    def _client(self, path: str) -> Body:
        bundle = base64.b64encode(self.place.certificates.authority.read_bytes()).decode()
        return {"url": f"https://{self.place.address}:{self.port}{path}", "caBundle": bundle}

    def start(self, api: Api) -> None:
        """Start the process with a token of its account.

        Raises:
            ToolError: it can't be started.
        """
        namespace, account = self._account
        self.place.write_kubeconfig(self.name, {"token": api.token(account, namespace)})
        configuration = self.place.folder / f"{self.name}.json"
        configuration.write_text(json.dumps(self._configuration()), encoding="utf-8")
        program = self.place.built.programs[self.name]
        arguments = [
            "--kubeconfig",
            str(self.place.kubeconfig(self.name)),
            "--config",
            str(configuration),
        ]
        # JobSet and Trainer look for certificates where Go has temporary files.
        serving = self.place.folder / self.name / "k8s-webhook-server" / "serving-certs"
        shutil.copytree(self.place.certificates.folder, serving)
        environment = {"TMPDIR": str(self.place.folder / self.name)}
        if self.name == "kueue":
            self.place.processes.start_as(
                self.name, [*_private(serving), str(program), *arguments], environment
            )
        else:
            self.place.processes.start(program, arguments, environment)

    def is_serving(self) -> bool:
        """Tell whether its webhooks answer."""
        return answers(self.port, self.place.address)

    def _configuration(self) -> Body:
        health, metrics = free_ports(2)
        certificates = str(self.place.certificates.folder)
        manages = "certManagement" if self.name == "trainer" else "internalCertManagement"
        said = self._said()
        own: Body = {
            "apiVersion": _KINDS[self.name],
            "kind": "Configuration",
            "leaderElection": {"leaderElect": False},
            "health": {"healthProbeBindAddress": f"{LOOPBACK}:{health}"},
            "metrics": {**said.get("metrics", {}), "bindAddress": f"{LOOPBACK}:{metrics}"},
            "webhook": {"host": self.place.address, "port": self.port},
            manages: {"enable": False},
        }
        if self.name == "trainer":
            own["metrics"]["secureServing"] = False
        else:
            own["webhook"]["certDir"] = certificates
        if self.name == "kueue":
            own |= {
                "namespace": self.controller.namespace,
                "featureGates": {"VisibilityOnDemand": False},
            }
        if self.name == "jobset":
            own["metrics"]["certDir"] = certificates
        return said | own

    def _said(self) -> dict[str, Any]:
        """Return what the tree, or the release, says of the configuration."""
        if not self.controller.configuration:
            return dict(self.controller.settings)
        text = (self.tree / self.controller.configuration).read_text(encoding="utf-8")
        (body,) = parse_manifests(text)
        assert isinstance(body, dict)
        return body


def kustomized(kubectl: Path, folder: Path) -> list[Body]:
    """Return what kustomize makes of a folder.

    Raises:
        ToolError: kustomize can't build it.
    """
    done = subprocess.run(
        [kubectl, "kustomize", folder],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        preexec_fn=dying_with_parent(),
    )
    if done.returncode:
        raise ToolError(f"kustomize can't build {folder}: {done.stderr.strip()}")
    return [body for body in parse_manifests(done.stdout) if isinstance(body, dict)]


def start(running: Mapping[str, Running], api: Api) -> None:
    """Start controllers, whose custom resources are served already, and have the API server call their webhooks.

    Raises:
        ToolError: one ends, or takes too long.
    """
    for each in running.values():
        for body in each.roles():
            api.apply(body)
        each.start(api)
    for each in running.values():
        each.place.processes.wait_until(each.is_serving, f"the start of {each.name}", START)
        for body in each.webhooks():
            api.apply(body)


def _private(certificates: Path) -> list[str]:
    """Return the beginning of a command line that runs the rest with an /etc of its own.

    Raises:
        ToolError: this machine lets nobody do that.
    """
    for who in ([], ["--user", "--map-root-user"]):
        wrapper = ["unshare", *who, "--mount", "sh", "-c"]
        try:
            done = subprocess.run(
                [*wrapper, "mount -t tmpfs none /etc"], capture_output=True, check=False
            )
        except FileNotFoundError:
            break
        if done.returncode == 0:
            return [*wrapper, _PRIVATE_ETC, "sh", str(certificates)]
    raise ToolError(
        f"Kueue reads certificates from {_METRICS_CERTIFICATES}, and this machine allows no "
        "private mount namespace to put them there; run the rehearsal as root, or allow "
        "unprivileged user namespaces"
    )
