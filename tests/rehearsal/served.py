"""An API server with the requests of a rehearsal: objects in memory, served over TLS."""

from __future__ import annotations

import json
import re
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from trainyard.yaml_io.manifests import parse_manifests
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.certificates import Certificates

_PATH = re.compile(
    r"(/api/[^/]+|/apis/[^/]+/[^/]+)(?:/namespaces/([^/]+))?/([^/]+)(?:/([^/]+))?(?:/([^/]+))?"
)
_DISCOVERY = re.compile(r"/api/([^/]+)|/apis/([^/]+/[^/]+)")
KINDS = {
    "argoproj.io/v1alpha1": ["Application", "ApplicationSet"],
    "external-secrets.io/v1": ["ExternalSecret"],
    "v1": [
        "Event",
        "Namespace",
        "Node",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "Pod",
        "ResourceQuota",
    ],
    "apps/v1": ["Deployment"],
    "batch/v1": ["CronJob"],
    "jobset.x-k8s.io/v1alpha2": ["JobSet"],
    "storage.k8s.io/v1": ["StorageClass"],
    "kueue.x-k8s.io/v1beta2": ["ClusterQueue", "LocalQueue", "Workload"],
    "trainer.kubeflow.org/v1alpha1": ["TrainJob"],
    "networking.k8s.io/v1": ["NetworkPolicy"],
    "k8s.cni.cncf.io/v1": ["NetworkAttachmentDefinition"],
    "machineconfiguration.openshift.io/v1": ["MachineConfigPool"],
    "sriovnetwork.openshift.io/v1": ["SriovNetwork"],
}
_OF_THE_CLUSTER = {
    "Namespace",
    "Node",
    "PersistentVolume",
    "StorageClass",
    "ClusterQueue",
    "MachineConfigPool",
}


@dataclass(frozen=True, slots=True)
class Request:
    """A request to the server."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: list[tuple[str, str]]
    content: bytes


@dataclass(slots=True)
class Served:
    """Objects and behaviour of an API server.

    Args:
        objects: by path.
        refused: status and message of refusals, by method and path.
        warned: warnings by path.
        react: acts as controllers when an object is created or applied.
    """

    port: int = 0
    objects: dict[str, Body] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    refused: dict[tuple[str, str], tuple[int, str]] = field(default_factory=dict)
    warned: dict[str, list[str]] = field(default_factory=dict)
    react: Callable[[str, Body], None] = lambda _path, _body: None

    def put(self, version: str, kind: str, name: str, namespace: str = "", **body: Any) -> Body:
        """Add an object."""
        labels = body.pop("labels", {})
        metadata = {
            "name": name,
            "namespace": namespace,
            "labels": labels,
            "creationTimestamp": "2026-11-21T10:00:00Z",
        }
        made = {
            "apiVersion": version,
            "kind": kind,
            "metadata": metadata | body.pop("metadata", {}),
            **body,
        }
        prefix = f"/apis/{version}" if "/" in version else f"/api/{version}"
        within = f"/namespaces/{namespace}" if namespace else ""
        self.objects[f"{prefix}{within}/{kind.lower()}s/{name}"] = made
        return made

    def answer(self, request: Request) -> tuple[int, Body]:
        """Return status and body of the answer to a request."""
        if refusal := self.refused.get((request.method, request.path)):
            return refusal[0], {"message": refusal[1]}
        if found := _DISCOVERY.fullmatch(request.path):
            return _discovered(found[1] or found[2])
        matched = _PATH.fullmatch(request.path)
        assert matched, request.path
        methods: dict[str, Callable[..., tuple[int, Body]]] = {
            "GET": self._get,
            "POST": self._post,
            "PATCH": self._patch,
            "DELETE": self._delete,
        }
        return methods[request.method](request, *matched.groups())

    def _get(
        self, request: Request, prefix: str, namespace: str, plural: str, name: str, _: str
    ) -> tuple[int, Body]:
        if name:
            return self._found(request.path)
        key, value = request.query.get("labelSelector", ["="])[0].split("=")
        items = []
        for path, body in sorted(self.objects.items()):
            labels = body["metadata"].get("labels", {})
            if _is_listed(path, prefix, namespace, plural) and (
                not key or labels.get(key) == value
            ):
                items.append(body)
        return 200, {"items": items}

    def _post(self, request: Request, *_: str) -> tuple[int, Body]:
        body = json.loads(request.content)
        if "dryRun" not in request.query:
            self._write(f"{request.path}/{body['metadata']['name']}", body)
        return 201, body

    def _patch(self, request: Request, *parts: str) -> tuple[int, Body]:
        (change,) = parse_manifests(request.content.decode())
        assert isinstance(change, dict)
        path = request.path.removesuffix(f"/{parts[4]}") if parts[4] else request.path
        self._write(path, _merged(self.objects.get(path, {}), change))
        return 200, self.objects[path]

    def _delete(self, request: Request, *_: str) -> tuple[int, Body]:
        status, body = self._found(request.path)
        self.objects.pop(request.path, None)
        return status, body

    def _found(self, path: str) -> tuple[int, Body]:
        if path not in self.objects:
            return 404, {"message": f"{path} not found"}
        return 200, self.objects[path]

    def _write(self, path: str, body: Body) -> None:
        self.objects[path] = body
        self.react(path, body)


def _merged(body: Body, change: Body) -> Body:
    """Return an object after a merge patch (RFC 7396)."""
    inner = {
        key: _merged(body[key], each)
        for key, each in change.items()
        if isinstance(body.get(key), dict)
    }
    return {**body, **change, **inner}


def _is_listed(path: str, prefix: str, namespace: str | None, plural: str) -> bool:
    """Return whether a list of objects has the one at a path; no namespace means all."""
    parts = _PATH.fullmatch(path)
    if not parts or (parts[1], parts[3]) != (prefix, plural):
        return False
    return namespace in {None, parts[2]}


def _discovered(version: str) -> tuple[int, Body]:
    if version not in KINDS:
        return 404, {}
    resources = [
        {"name": f"{kind.lower()}s", "kind": kind, "namespaced": kind not in _OF_THE_CLUSTER}
        for kind in KINDS[version]
    ]
    return 200, {
        "resources": [*resources, {"name": "pods/status", "kind": "Pod", "namespaced": True}]
    }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, what: Served, *args: Any) -> None:
        self.what = what
        super().__init__(*args)

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        url = urlsplit(self.path)
        headers, content = self.headers.items(), self.rfile.read(length)
        request = Request(self.command, url.path, parse_qs(url.query), headers, content)
        self.what.requests.append(request)
        status, body = (200, {}) if url.path == "/readyz" else self.what.answer(request)
        content = json.dumps(body).encode()
        self.send_response(status)
        for warning in self.what.warned.get(url.path, []):
            self.send_header("Warning", f'299 - "{warning}"')
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_PATCH = do_DELETE = do_GET  # noqa: N815 - names of the library

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def served(certificates: Certificates) -> Iterator[Served]:
    """Serve objects on a port of loopback."""
    what = Served()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates.certificate, certificates.key)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, what)) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        what.port = server.server_port
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield what
        finally:
            server.shutdown()
            thread.join()


def api_of(what: Served, certificates: Certificates) -> Api:
    """Return the administrator's client."""
    return Api(
        f"https://127.0.0.1:{what.port}", certificates.authority, {"token": "token-of-admin"}
    )
