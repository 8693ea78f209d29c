from __future__ import annotations

import json
import ssl
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.rehearsal.served import KINDS, Served
from trainyard.diagnostics import ToolError
from trainyard_rehearsal.control_plane.api import Api
from trainyard_rehearsal.control_plane.certificates import Certificates, write_certificates
from trainyard_rehearsal.control_plane.processes import LOOPBACK, free_ports
from trainyard_rehearsal.control_plane.refusal import Refused

_POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "a"},
    "spec": {"nodeName": "n"},
}
_PATH = "/api/v1/namespaces/a/pods/p"


def _sent(server: Served) -> dict[str, str]:
    return {name.lower(): value for name, value in server.requests[-1].headers}


def test_apply_is_argo_cds_request(server: Served, api: Api) -> None:
    """Server-side, with strict validation, by Argo CD's field manager, by force."""
    api.apply(_POD)
    request = server.requests[-1]

    assert (request.method, request.path) == ("PATCH", _PATH)
    assert request.query == {
        "fieldManager": ["argocd-controller"],
        "fieldValidation": ["Strict"],
        "force": ["true"],
    }
    assert _sent(server)["content-type"] == "application/apply-patch+yaml"
    assert server.objects[_PATH]["spec"] == {"nodeName": "n"}


def test_committed_bytes_are_sent(server: Served, api: Api) -> None:
    """The server parses the YAML itself, so a value that it parses differently is found."""
    content = b"# as committed\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: a}\n"
    api.apply(_POD, content)
    assert server.requests[-1].content == content


def test_warnings_come_with_the_answer(server: Served, api: Api) -> None:
    server.warned[_PATH] = ["one is deprecated", "two as well"]
    assert api.apply(_POD).warnings == ('299 - "one is deprecated"', '299 - "two as well"')


def test_refusal_has_the_servers_words(server: Served, api: Api) -> None:
    server.refused["POST", "/api/v1/namespaces/a/pods"] = (403, "pods is forbidden: exceeded quota")
    with pytest.raises(Refused, match=r"^pods is forbidden: exceeded quota$") as refused:
        api.create(_POD)
    assert refused.value.status == 403


def test_dry_run_changes_nothing(server: Served, api: Api) -> None:
    api.create(_POD, dry_run=True)
    assert server.requests[-1].query["dryRun"] == ["All"]
    assert server.objects == {}


def test_other_user_is_impersonated(server: Served, api: Api) -> None:
    """There is a header for each group; later requests are the administrator's again."""
    other = api.acting("somebody@nlp", ["/ml/Künstliche Intelligenz", "system:authenticated"])
    other.create(_POD)
    sent = [
        (name.lower(), value)
        for name, value in server.requests[-1].headers
        if name.lower().startswith("imp")
    ]
    api.get("v1", "Pod", "p", "a")

    assert sent == [
        ("impersonate-user", "somebody@nlp"),
        ("impersonate-group", "/ml/Künstliche Intelligenz".encode().decode("latin-1")),
        ("impersonate-group", "system:authenticated"),
    ]
    assert not [name for name in _sent(server) if name.startswith("imp")]
    assert _sent(server)["authorization"] == "Bearer token-of-admin"


def test_list_is_of_one_namespace_or_all(server: Served, api: Api) -> None:
    """Listed objects have their kind; they are selected by namespace and by label."""
    server.put("v1", "Pod", "x", "a", labels={"job": "one"})
    server.put("v1", "Pod", "y", "b")

    assert [each["metadata"]["name"] for each in api.list("v1", "Pod")] == ["x", "y"]
    assert [each["metadata"]["name"] for each in api.list("v1", "Pod", "b")] == ["y"]
    assert [
        (each["kind"], each["apiVersion"]) for each in api.list("v1", "Pod", labels="job=one")
    ] == [("Pod", "v1")]


def test_status_is_patched_alone(server: Served, api: Api) -> None:
    body = server.put("v1", "Pod", "p", "a")
    api.patch(body, {"status": {"phase": "Succeeded"}}, "status")
    assert server.requests[-1].path == f"{_PATH}/status"
    assert json.loads(server.requests[-1].content) == {"status": {"phase": "Succeeded"}}


def test_delete_includes_dependents(server: Served, api: Api) -> None:
    """The propagation policy is background; a second deletion is refused."""
    body = server.put("v1", "Pod", "p", "a")
    api.delete(body)
    assert server.requests[-1].query == {"propagationPolicy": ["Background"]}
    with pytest.raises(Refused):
        api.delete(body)


def test_unknown_kind_is_refused_until_it_is_served(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kind that is served later is found."""
    with pytest.raises(Refused, match=r"^no kind Secret in v1 on this API server$"):
        api.resource("v1", "Secret")
    with pytest.raises(Refused, match=r"^no kind Kueue in kueue.openshift.io/v1 on"):
        api.resource("kueue.openshift.io/v1", "Kueue")
    monkeypatch.setitem(KINDS, "v1", ["Secret"])
    assert api.resource("v1", "Secret").path("a", "s") == "/api/v1/namespaces/a/secrets/s"


def test_missing_server_is_reported(certificates: Certificates) -> None:
    """The error names the request."""
    (port,) = free_ports(1)
    with Api(f"https://127.0.0.1:{port}", certificates.authority, {"token": "token"}) as api:
        assert not api.ready()
        with pytest.raises(ToolError, match=r"^the API server does not answer to GET /api/v1: "):
            api.get("v1", "Pod", "p", "a")


def test_request_for_a_new_kind_is_repeated(
    server: Served, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kind that was just added has no storage yet."""
    server.put("v1", "Pod", "p", "a")
    server.refused["GET", _PATH] = (429, "storage is (re)initializing")
    monkeypatch.setattr(
        "trainyard_rehearsal.control_plane.api.time.sleep", lambda _: server.refused.clear()
    )
    assert api.get("v1", "Pod", "p", "a")["metadata"]["name"] == "p"


def test_new_object_that_meets_a_change_of_its_quota_is_sent_again(
    server: Served, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An object of that name is not a reason to repeat the request."""
    pods = "POST", "/api/v1/namespaces/a/pods"
    monkeypatch.setattr(
        "trainyard_rehearsal.control_plane.api.time.sleep", lambda _: server.refused.clear()
    )
    server.refused[pods] = (409, 'on resourcequotas "q": the object has been modified')
    api.create(_POD)
    assert "nodeName" in server.objects[_PATH]["spec"]

    server.refused[pods] = (409, 'pods "p" already exists')
    with pytest.raises(Refused, match="already exists"):
        api.create(_POD)


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the methods whose next request meets a connection that the server closes."""
    methods: list[str] = []
    send = httpx.Client.request

    def request(client: httpx.Client, method: str, *args: Any, **details: Any) -> httpx.Response:
        if method in methods:
            methods.remove(method)
            raise httpx.RemoteProtocolError("Server disconnected without sending a response.")
        return send(client, method, *args, **details)

    monkeypatch.setattr(httpx.Client, "request", request)
    return methods


def test_request_that_changes_nothing_outlives_a_closed_connection(
    server: Served, api: Api, closed: list[str]
) -> None:
    """Nobody knows whether a real creation had happened, so it is not sent twice."""
    server.put("v1", "Pod", "p", "a")
    closed.append("GET")
    assert api.get("v1", "Pod", "p", "a")["metadata"]["name"] == "p"
    closed.append("POST")
    api.create(_POD, dry_run=True)
    closed.append("POST")
    with pytest.raises(ToolError, match="Server disconnected"):
        api.create(_POD)
    closed += ["GET", "GET"]
    with pytest.raises(ToolError, match="Server disconnected"):
        api.get("v1", "Pod", "p", "a")


def test_connections_do_not_change_the_tls_settings_of_others(
    server: Served, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OpenSSL reads them without a lock, so a replaced list of protocols breaks other hellos."""
    replaced: list[object] = []
    monkeypatch.setattr(
        ssl.SSLContext, "set_alpn_protocols", lambda _, protocols: replaced.append(protocols)
    )
    server.put("v1", "Pod", "p", "a")

    assert api.get("v1", "Pod", "p", "a")["metadata"]["name"] == "p"
    assert replaced == []


def test_unknown_authority_is_not_trusted(server: Served, tmp_path: Path) -> None:
    other = write_certificates(tmp_path / "certificates", LOOPBACK)
    with (
        Api(f"https://127.0.0.1:{server.port}", other.authority, {"token": "token"}) as api,
        pytest.raises(ToolError, match="CERTIFICATE_VERIFY_FAILED"),
    ):
        api.get("v1", "Pod", "p", "a")
