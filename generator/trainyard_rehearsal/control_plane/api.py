"""Requests of a user to the API server: objects as plain data, refusals in its words."""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import httpx

from trainyard.diagnostics import ToolError
from trainyard_rehearsal.control_plane.refusal import Refused

Body = dict[str, Any]

_SECONDS = 60.0
_AGAIN = 0.5
"""Seconds until a request that came too early is repeated."""
_TOKEN: Body = {"audiences": [], "expirationSeconds": 86400}
"""Token of a service account for a day: a control plane may be kept longer than the usual hour."""
MANAGER = "argocd-controller"
"""Field manager of Argo CD."""


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind that the API server serves."""

    prefix: str
    plural: str
    namespaced: bool

    def path(self, namespace: str = "", name: str = "", part: str = "") -> str:
        """Return the path of an object, of a part of it (``status``), or of all objects."""
        within = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        steps = [f"{self.prefix}{within}", self.plural, name, part]
        return "/".join(filter(None, steps))


@dataclass(frozen=True, slots=True)
class Answer:
    """The API server's answer to an accepted request."""

    body: Body
    warnings: tuple[str, ...]


class _Trust(ssl.SSLContext):
    """TLS settings that the threads of a client share, and that no connection changes.

    httpcore sets the list of protocols (ALPN) for each connection. OpenSSL frees the old list while
    another thread may copy it for its own connection, and a Go server refuses the broken hello
    (``TLSV1_ALERT_DECODE_ERROR``).
    """

    def set_alpn_protocols(self, alpn_protocols: Iterable[str]) -> None:
        """Ignore the list: without one the server speaks HTTP/1.1, as this client does."""


class Api:
    """Client of one user.

    Args:
        server: URL of the API server.
        authority: file with the certificate of its authority.
        user: fields as in a kubeconfig: ``token``, or ``client-certificate`` and ``client-key``.
    """

    def __init__(self, server: str, authority: Path, user: Mapping[str, str]) -> None:
        trust = _Trust(ssl.PROTOCOL_TLS_CLIENT)
        trust.load_verify_locations(authority)
        if "client-certificate" in user:
            trust.load_cert_chain(user["client-certificate"], user["client-key"])
        self._client = httpx.Client(
            base_url=server,
            verify=trust,
            headers={"Authorization": f"Bearer {user['token']}"} if "token" in user else {},
            timeout=_SECONDS,
            # A TLS handshake costs more than most requests, so idle connections are kept.
            limits=httpx.Limits(keepalive_expiry=_SECONDS),
            trust_env=False,
        )
        self._impersonated: list[tuple[str, str]] = []
        self._known: dict[str, dict[str, Resource]] = {}

    def __enter__(self) -> Self:
        """Keep the connections open."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections."""
        self._client.close()

    def acting(self, user: str, groups: Sequence[str]) -> Api:
        """Return a client of the same API that impersonates another user."""
        other = object.__new__(Api)
        other._client, other._known = self._client, self._known
        in_groups = (("Impersonate-Group", group) for group in groups)
        other._impersonated = [("Impersonate-User", user), *in_groups]
        return other

    def ready(self) -> bool:
        """Return whether the API server answers and is ready."""
        try:
            return self._client.get("/readyz").status_code == httpx.codes.OK
        except httpx.TransportError:
            return False

    def resource(self, version: str, kind: str) -> Resource:
        """Return a kind as it is served.

        Raises:
            Refused: the kind is not served.
        """
        if kind not in self._known.get(version, {}):
            self._known[version] = dict(self._discover(version))
        try:
            return self._known[version][kind]
        except KeyError:
            raise Refused(404, f"no kind {kind} in {version} on this API server") from None

    def get(self, version: str, kind: str, name: str, namespace: str = "") -> Body:
        """Return one object.

        Raises:
            Refused: it does not exist, or this user may not read it.
        """
        return self._do("GET", self.resource(version, kind).path(namespace, name)).body

    def find(self, version: str, kind: str, name: str, namespace: str = "") -> Body:
        """Return one object; empty if it does not exist.

        Raises:
            Refused: this user may not read it.
        """
        try:
            return self.get(version, kind, name, namespace)
        except Refused as refused:
            if refused.status != httpx.codes.NOT_FOUND:
                raise
            return {}

    def list(self, version: str, kind: str, namespace: str = "", labels: str = "") -> list[Body]:
        """Return the objects of a kind, of all namespaces if none is given.

        Raises:
            Refused: this user may not read them.
        """
        query = {"labelSelector": labels} if labels else {}
        found = self._do("GET", self.resource(version, kind).path(namespace), query)
        return [{"apiVersion": version, "kind": kind, **item} for item in found.body["items"]]

    def apply(
        self, body: Body, content: bytes = b"", *, manager: str = MANAGER, dry_run: bool = False
    ) -> Answer:
        """Apply an object as Argo CD does: server-side, with strict validation, by force.

        Args:
            body: the object.
            content: its bytes, to be parsed by the server's own YAML reader.
            manager: field manager.
            dry_run: change nothing.

        Raises:
            Refused: by validation, of unknown fields too, admission or authorization.
        """
        path = self._path(body)
        query = {"fieldManager": manager, "fieldValidation": "Strict", "force": "true"}
        kind = "application/apply-patch+yaml"
        return self._do("PATCH", path, query | _dry(dry_run), content or _json(body), kind)

    def create(
        self, body: Body, part: str = "", content: Body | None = None, *, dry_run: bool = False
    ) -> Answer:
        """Create an object, or a part of one (``exec``), which may have another content.

        Raises:
            Refused: by validation, admission or authorization.
        """
        place = body if part else {**body, "metadata": {**body["metadata"], "name": ""}}
        query = {"fieldValidation": "Strict"} | _dry(dry_run)
        return self._do("POST", self._path(place, part), query, _json(content or body))

    def patch(self, body: Body, change: Body, part: str = "", *, dry_run: bool = False) -> Answer:
        """Change an object, or a part of it (``status``), by a merge patch (RFC 7396).

        Raises:
            Refused: by validation, admission or authorization.
        """
        path, kind = self._path(body, part), "application/merge-patch+json"
        return self._do("PATCH", path, _dry(dry_run), _json(change), kind)

    def update(self, body: Body, *, dry_run: bool = False) -> Answer:
        """Replace an object; it is refused as a patch is."""
        return self._do("PUT", self._path(body), _dry(dry_run), _json(body))

    def token(self, account: str, namespace: str) -> str:
        """Return a new token of a service account.

        Raises:
            Refused: the account does not exist.
        """
        path = self.resource("v1", "ServiceAccount").path(namespace, account, "token")
        wanted = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": _TOKEN}
        return str(self._do("POST", path, {}, _json(wanted)).body["status"]["token"])

    def delete(
        self,
        body: Body,
        dependents: str = "Background",
        *,
        grace: int | None = None,
        dry_run: bool = False,
    ) -> None:
        """Delete an object, with a propagation policy for its dependents.

        Args:
            body: the object.
            dependents: the propagation policy.
            grace: seconds that a pod has until it is killed, instead of its own.
            dry_run: change nothing.

        Raises:
            Refused: it does not exist, or this user may not delete it.
        """
        options = {"propagationPolicy": dependents} | _dry(dry_run)
        if grace is not None:
            options["gracePeriodSeconds"] = str(grace)
        self._do("DELETE", self._path(body), options)

    def _path(self, body: Body, part: str = "") -> str:
        metadata = body["metadata"]
        resource = self.resource(body["apiVersion"], body["kind"])
        return resource.path(metadata.get("namespace", ""), metadata["name"], part)

    def _discover(self, version: str) -> Iterator[tuple[str, Resource]]:
        prefix = f"/apis/{version}" if "/" in version else f"/api/{version}"
        answer = self._request("GET", prefix)
        if answer.status_code == httpx.codes.OK:
            for each in answer.json()["resources"]:
                if "/" not in each["name"]:
                    yield each["kind"], Resource(prefix, each["name"], each["namespaced"])

    def _do(
        self,
        method: str,
        path: str,
        query: dict[str, str] | None = None,
        content: bytes = b"",
        kind: str = "application/json",
    ) -> Answer:
        # Names of groups may have letters of any script.
        headers = httpx.Headers([("Content-Type", kind), *self._impersonated], encoding="utf-8")
        answer = self._request(method, path, params=query or {}, content=content, headers=headers)
        body = answer.json() if answer.content else {}
        if answer.is_error:
            raise Refused(answer.status_code, str(body.get("message", answer.reason_phrase)))
        return Answer(body, tuple(answer.headers.get_list("Warning")))

    def _request(self, method: str, path: str, **details: Any) -> httpx.Response:
        deadline = time.monotonic() + _SECONDS
        try:
            answer = self._answer(method, path, **details)
            while _is_to_be_repeated(method, answer) and time.monotonic() < deadline:
                time.sleep(_AGAIN)
                answer = self._answer(method, path, **details)
        except httpx.TransportError as lost:
            raise ToolError(f"the API server does not answer to {method} {path}: {lost}") from lost
        return answer

    def _answer(self, method: str, path: str, **details: Any) -> httpx.Response:
        """Send a request; once more if the server closed the connection and nothing can change."""
        try:
            return self._client.request(method, path, **details)
        except httpx.RemoteProtocolError:
            if method != "GET" and "dryRun" not in details.get("params", {}):
                raise
            return self._client.request(method, path, **details)


def _is_to_be_repeated(method: str, answer: httpx.Response) -> bool:
    """Return whether an answer is about the moment and not about the request.

    Each client repeats 429, the answer for a new kind ("storage is (re)initializing"). A new object
    has no version: what has changed is the ResourceQuota that counts it.
    """
    changed = method == "POST" and "the object has been modified" in answer.text
    return changed or answer.status_code == httpx.codes.TOO_MANY_REQUESTS


def _json(body: Body) -> bytes:
    return json.dumps(body).encode()


def _dry(dry_run: bool) -> dict[str, str]:
    return {"dryRun": "All"} if dry_run else {}
