from __future__ import annotations

import json
import ssl
from pathlib import Path

import pytest

from tests.rehearsal.served import KINDS, Served
from trainyard.diagnostics import ToolError
from trainyard_rehearsal.control_plane.api import Api, Refused
from trainyard_rehearsal.control_plane.certificates import Certificates, write_certificates
from trainyard_rehearsal.control_plane.processes import LOOPBACK, free_ports

_POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "a"},
    "spec": {"nodeName": "n"},
}
_PATH = "/api/v1/namespaces/a/pods/p"


def _sent(server: Served) -> dict[str, str]:
    return {name.lower(): value for name, value in server.requests[-1].headers}


def test_applies_as_argo_cd_does(server: Served, api: Api) -> None:
    """By the server, strictly, as Argo CD's field manager, which takes fields over."""
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


def test_committed_bytes_are_what_is_sent(server: Served, api: Api) -> None:
    """The server reads the YAML itself: a value that its reader takes otherwise would be seen."""
    content = b"# as committed\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: a}\n"
    api.apply(_POD, content)
    assert server.requests[-1].content == content


def test_warnings_are_kept(server: Served, api: Api) -> None:
    """Each warning of the server comes with the answer."""
    server.warned[_PATH] = ["one is deprecated", "two as well"]
    assert api.apply(_POD).warnings == ('299 - "one is deprecated"', '299 - "two as well"')


def test_refusal_has_the_servers_words(server: Served, api: Api) -> None:
    """A refusal carries status and message as they came."""
    server.refused["POST", "/api/v1/namespaces/a/pods"] = (403, "pods is forbidden: exceeded quota")
    with pytest.raises(Refused, match=r"^pods is forbidden: exceeded quota$") as told:
        api.create(_POD)
    assert told.value.status == 403


def test_dry_run_changes_nothing(server: Served, api: Api) -> None:
    """What is only tried is said to the server."""
    api.create(_POD, dry_run=True)
    assert server.requests[-1].query["dryRun"] == ["All"]
    assert server.objects == {}


def test_acting_impersonates(server: Served, api: Api) -> None:
    """Another user is one by headers, one for each group; the administrator stays who he is."""
    other = api.acting("somebody@nlp", ["nlp-users", "system:authenticated"])
    other.create(_POD)
    said = [
        (name.lower(), value)
        for name, value in server.requests[-1].headers
        if name.lower().startswith("imp")
    ]
    api.get("v1", "Pod", "p", "a")

    assert said == [
        ("impersonate-user", "somebody@nlp"),
        ("impersonate-group", "nlp-users"),
        ("impersonate-group", "system:authenticated"),
    ]
    assert not [name for name in _sent(server) if name.startswith("imp")]
    assert _sent(server)["authorization"] == "Bearer token-of-admin"


def test_list_is_of_one_namespace_or_all(server: Served, api: Api) -> None:
    """Objects come with their kind, by namespace and by label."""
    server.put("v1", "Pod", "x", "a", labels={"job": "one"})
    server.put("v1", "Pod", "y", "b")

    assert [each["metadata"]["name"] for each in api.list("v1", "Pod")] == ["x", "y"]
    assert [each["metadata"]["name"] for each in api.list("v1", "Pod", "b")] == ["y"]
    assert [
        (each["kind"], each["apiVersion"]) for each in api.list("v1", "Pod", labels="job=one")
    ] == [("Pod", "v1")]


def test_status_is_patched_alone(server: Served, api: Api) -> None:
    """A merge patch of the status goes to the status."""
    body = server.put("v1", "Pod", "p", "a")
    api.patch(body, {"status": {"phase": "Succeeded"}}, "status")
    assert server.requests[-1].path == f"{_PATH}/status"
    assert json.loads(server.requests[-1].content) == {"status": {"phase": "Succeeded"}}


def test_delete_takes_dependents(server: Served, api: Api) -> None:
    """What an object owns goes too, and deleting it twice is refused."""
    body = server.put("v1", "Pod", "p", "a")
    api.delete(body)
    assert server.requests[-1].query == {"propagationPolicy": ["Background"]}
    with pytest.raises(Refused):
        api.delete(body)


def test_unknown_kind_is_refused_until_it_is_served(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kind that is not served is a refusal; what came in between is found."""
    with pytest.raises(Refused, match=r"^no kind Secret in v1 on this API server$"):
        api.resource("v1", "Secret")
    with pytest.raises(Refused, match=r"^no kind Kueue in kueue.openshift.io/v1 on"):
        api.resource("kueue.openshift.io/v1", "Kueue")
    monkeypatch.setitem(KINDS, "v1", ["Secret"])
    assert api.resource("v1", "Secret").path("a", "s") == "/api/v1/namespaces/a/secrets/s"


def test_no_server_is_a_sentence(certificates: Certificates) -> None:
    """Nobody there is no bug of ours: whoever asked says what was asked."""
    (port,) = free_ports(1)
    with Api(f"https://127.0.0.1:{port}", certificates.authority, {"token": "token"}) as api:
        assert not api.ready()
        with pytest.raises(ToolError, match=r"^the API server does not answer to GET /api/v1: "):
            api.get("v1", "Pod", "p", "a")


def test_what_comes_too_early_is_asked_again(
    server: Served, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kind that has just come has no storage yet."""
    server.put("v1", "Pod", "p", "a")
    server.refused["GET", _PATH] = (429, "storage is (re)initializing")
    monkeypatch.setattr(
        "trainyard_rehearsal.control_plane.api.time.sleep", lambda _: server.refused.clear()
    )
    assert api.get("v1", "Pod", "p", "a")["metadata"]["name"] == "p"


def test_connections_do_not_change_the_tls_settings_of_others(
    server: Served, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OpenSSL reads them without a lock: when a thread replaced the list of protocols, another sent
    a broken hello."""
    replaced: list[object] = []
    monkeypatch.setattr(
        ssl.SSLContext, "set_alpn_protocols", lambda _, protocols: replaced.append(protocols)
    )
    server.put("v1", "Pod", "p", "a")

    assert api.get("v1", "Pod", "p", "a")["metadata"]["name"] == "p"
    assert replaced == []


def test_unknown_authority_is_not_trusted(server: Served, tmp_path: Path) -> None:
    """The API server must show a certificate of the given authority."""
    other = write_certificates(tmp_path / "certificates", LOOPBACK)
    with (
        Api(f"https://127.0.0.1:{server.port}", other.authority, {"token": "token"}) as api,
        pytest.raises(ToolError, match="CERTIFICATE_VERIFY_FAILED"),
    ):
        api.get("v1", "Pod", "p", "a")
