"""`trainyard facts` only reads: the audit log of a real API server, and the page's rights."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.calls import REPOSITORY, edit, process
from tests.pages import blocks
from trainyard.golang import cache_folder
from trainyard.model.names import SYSTEM_NAMESPACE
from trainyard.model.readable import TABLE
from trainyard.yaml_io.manifests import parse_manifests
from trainyard_rehearsal.control_plane import local_cluster
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.build import find
from trainyard_rehearsal.control_plane.components import read_components
from trainyard_rehearsal.control_plane.endpoint import Endpoint
from trainyard_rehearsal.control_plane.local_cluster import AUDIT_LOG

pytestmark = pytest.mark.e2e

PAGE = REPOSITORY / "docs/how-to/check-a-running-cluster.md"
RECORD = '{"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [{"level": "Metadata"}]}'
ACCOUNT = "system:serviceaccount:trainyard-reader:trainyard-reader"
HIDDEN = "nobody-may-see-this"


@pytest.fixture
def endpoint(tmp_path: Path) -> Iterator[Endpoint]:
    """An API server that records every request."""
    folder, policy = tmp_path / "run", tmp_path / "policy.json"
    folder.mkdir()
    policy.write_text(RECORD, "utf-8")
    built = find(read_components("kubernetes-1.36"), cache_folder())
    with local_cluster.running(built, folder, policy) as found:
        yield found


def rights() -> list[Body]:
    """Return the objects that the page applies."""
    return [body for _, text in blocks(PAGE, "yaml") for body in parse_manifests(text)]


def reader(endpoint: Endpoint, api: Api) -> None:
    """Write the kubeconfig of the page's account; the tree has made its namespace."""
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SYSTEM_NAMESPACE}})
    for body in rights():
        api.apply(body)
    token = api.token("trainyard-reader", "trainyard-reader")
    endpoint.write_kubeconfig("reader", {"token": token})


def facts(endpoint: Endpoint, repository: Path, monkeypatch: pytest.MonkeyPatch) -> Body:
    kubectl = endpoint.built.programs["kubectl"].parent
    monkeypatch.setenv("PATH", str(kubectl))
    monkeypatch.setenv("KUBECONFIG", str(endpoint.kubeconfig("reader")))
    call = ("facts", "lab", "--context", "reader", "--format", "json")
    ended = process(*call, cwd=repository)
    assert ended.code == 0, ended
    assert HIDDEN not in ended.out
    result: Body = json.loads(ended.out)["result"]
    return result


def test_facts_are_only_read_with_the_rights_of_the_page(
    endpoint: Endpoint, profiles: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each request is a get or list that the server permits; without a rule, its kinds are named.

    Node, Deployment and Secret have values that must not be in the file.
    """
    edit(profiles / "clusters/lab.yaml", "https://lab.example.com:6443", endpoint.server)
    variable = {"name": "TOKEN", "value": HIDDEN}
    container = {"name": "manager", "image": "registry.example.com/kueue:1", "env": [variable]}
    labels = {"app": "kueue"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    deployment = {"selector": {"matchLabels": labels}, "template": pod}
    with endpoint.api() as api:
        reader(endpoint, api)
        for body in (
            {"apiVersion": "v1", "kind": "Secret", "stringData": {"key": HIDDEN}},
            {"apiVersion": "v1", "kind": "Node", "spec": {"providerID": HIDDEN}},
            {"apiVersion": "apps/v1", "kind": "Deployment", "spec": deployment},
        ):
            place = {} if body["kind"] == "Node" else {"namespace": "default"}
            api.create({**body, "metadata": {"name": "planted", **place}})

        found = facts(endpoint, profiles.parent, monkeypatch)

        assert found["unread"] == []
        kinds = {each["kind"] for each in found["objects"] if each["metadata"]["name"] == "planted"}
        assert kinds == {"Node", "Deployment"}
        asked = list(requests(endpoint.folder / AUDIT_LOG))
        assert {each["verb"] for each in asked} == {"get", "list"}
        assert {each["responseStatus"]["code"] for each in asked} <= {200, 404}
        assert "secrets" not in {each.get("objectRef", {}).get("resource") for each in asked}
        without_nodes(api)
        left = facts(endpoint, profiles.parent, monkeypatch)["unread"]
        assert {each["resource"] for each in left} == {
            each.display for each in TABLE if not (each.group or each.only or each.within)
        }


def without_nodes(api: Api) -> None:
    """Take the rule of nodes and namespaces from the account."""
    (role,) = (body for body in rights() if body["kind"] == "ClusterRole")
    others = [rule for rule in role["rules"] if "nodes" not in rule["resources"]]
    assert len(others) == len(role["rules"]) - 1
    there = api.get(role["apiVersion"], "ClusterRole", role["metadata"]["name"])
    api.update({**there, "rules": others})


def requests(log: Path) -> Iterator[Body]:
    """Yield what the account has asked for, without kubectl's look at itself."""
    for line in log.read_text("utf-8").splitlines():
        event = json.loads(line)
        if event["user"]["username"] == ACCOUNT and event["stage"] == "ResponseComplete":
            yield event
