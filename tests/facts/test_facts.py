"""Facts of a cluster: only read, stripped, the same however they are read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.calls import REPOSITORY, Ended, edit
from tests.cli.fixtures import here, repository, trainyard  # noqa: F401
from tests.facts.stand_in import StandIn
from tests.pages import blocks
from trainyard.model.readable import NODES, TABLE
from trainyard.model.rights import rules_of, rules_within
from trainyard.yaml_io.manifests import parse_manifests

pytestmark = pytest.mark.usefixtures("repository")
Call = Callable[..., Ended]
CLUSTER_QUEUES = "/apis/kueue.x-k8s.io/{}/clusterqueues?limit=500"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?limit=100"
NODE = {
    "metadata": {
        "name": "n1",
        "labels": {"zone": "a"},
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "hidden"},
        "managedFields": [{"manager": "kubelet", "fieldsV1": {}}, {"manager": "kubelet"}],
    },
    "spec": {"providerID": "hidden", "taints": [{"key": "k", "effect": "NoSchedule"}]},
    "status": {"allocatable": {"cpu": "4"}, "images": [{"names": ["hidden"]}]},
}
KEPT = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {
        "labels": {"zone": "a"},
        "managedFields": [{"manager": "kubelet"}],
        "name": "n1",
    },
    "spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]},
    "status": {"allocatable": {"cpu": "4"}},
}


@pytest.fixture
def kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return StandIn(folder)


def read(trainyard: Call, *arguments: str) -> dict[str, Any]:  # noqa: F811
    ended = trainyard("facts", "lab", *arguments, "--format", "json")
    assert ended.code == 0, ended
    result: dict[str, Any] = json.loads(ended.out)["result"]
    return result


def listed(*items: Any, rest: str = "") -> dict[str, Any]:
    return {"kind": "List", "metadata": {"continue": rest}, "items": list(items)}


def test_kubectl_only_reads_the_table(
    trainyard: Call,  # noqa: F811
    kubectl: StandIn,
) -> None:
    """The context is named in each call, and each path is one of the table."""
    result = read(trainyard, "--context", "lab-admin")
    paths = {each.path() if each.only else f"{each.path()}?limit=500" for each in TABLE}
    paths = paths - {CRDS.replace("100", "500")} | {CRDS}

    assert result["kubernetes"] == "1.36.3"
    assert result["unread"] == []
    first, *others = kubectl.calls
    assert first[:3] == ["--context=lab-admin", "config", "view"]
    assert {each[0] for each in others} == {"--context=lab-admin"}
    assert {tuple(each[1:3]) for each in others} == {("get", "--raw")}
    assert {each[3] for each in others} == {*paths, "/version"}


def test_table_has_no_secret_and_no_pod() -> None:
    assert {each.plural for each in TABLE}.isdisjoint({"secrets", "pods", "events"})
    assert [(each.only, each.within) for each in TABLE if each.plural == "configmaps"] == [
        (("kueue-system", "kueue-manager-config"), ""),
        (("argocd", "argocd-cm"), ""),
        (("openshift-gitops", "argocd-cm"), ""),
        (None, "trainyard-system"),
    ]


def test_one_module_starts_kubectl() -> None:
    found = [
        path.name
        for path in (REPOSITORY / "generator/trainyard").rglob("*.py")
        if "trainyard.programs import" in (text := path.read_text("utf-8"))
        and re.search(r"""["']kubectl\b""", text)
    ]
    assert found == ["kubectl.py"]


def test_page_has_the_rights_that_reading_needs() -> None:
    """Its ClusterRole and Role permit just the table."""
    page = REPOSITORY / "docs/how-to/check-a-running-cluster.md"
    bodies = [body for _, text in blocks(page, "yaml") for body in parse_manifests(text)]
    roles = {each["kind"]: each for each in bodies if each["kind"].endswith("Role")}
    assert roles["ClusterRole"]["rules"] == rules_of(TABLE)
    place = roles["Role"]["metadata"]["namespace"]
    assert {place: roles["Role"]["rules"]} == rules_within(TABLE)


def test_objects_are_stripped_sorted_and_of_all_pages(
    trainyard: Call,  # noqa: F811
    kubectl: StandIn,
) -> None:
    first = {"metadata": {"name": "n0"}}
    path = f"{NODES.path()}?limit=500"
    pages = {path: listed(NODE, rest="mark="), f"{path}&continue=mark=": listed(first)}
    kubectl.answer(pages)
    result = read(trainyard, "--context", "lab")
    assert result["objects"] == [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n0"}},
        KEPT,
    ]
    assert "hidden" not in json.dumps(result)


def test_addresses_and_certificates_are_digests(
    repository: Path,  # noqa: F811
    trainyard: Call,  # noqa: F811
) -> None:
    """The same address has the same digest, whatever its account; read again, it stays."""
    argocd = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application"}
    addresses = ("https://a:hidden@git.x/Y.git", "https://git.x/y/", "https://git.x/z")
    applications = [
        {**argocd, "metadata": {"name": str(n)}, "spec": {"source": {"repoURL": each}}}
        for n, each in enumerate(addresses)
    ]
    hook = {"name": "h", "clientConfig": {"caBundle": "hidden", "url": "https://hidden"}}
    hooks = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "h"},
        "webhooks": [hook, {"clientConfig": {"caBundle": ""}}],
    }
    settings = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "argocd-cm", "namespace": "argocd"},
        "data": {"oidc.config": "clientSecret: hidden", "installationID": "west"},
    }
    text = json.dumps(listed(*applications, hooks, settings))
    (repository / "all.json").write_text(text, "utf-8")
    found = read(trainyard, "--from", "all.json")
    assert "hidden" not in json.dumps(found)
    first, second, third, configuration, map_ = sorted(
        found["objects"], key=lambda each: ["Application", *_KINDS].index(each["kind"])
    )
    digests = [each["spec"]["source"]["repoURL"] for each in (first, second, third)]
    assert digests[0] == digests[1] != digests[2]
    assert [each["clientConfig"]["caBundle"][:7] for each in configuration["webhooks"]] == [
        "sha256:",
        "",
    ]
    assert map_["data"] == {"installationID": "west"}
    trainyard("facts", "lab", "--from", "all.json", "--format", "json:facts.json")
    assert read(trainyard, "--from", "facts.json") == found


_KINDS = ("MutatingWebhookConfiguration", "ConfigMap")


def test_version_that_the_cluster_serves_is_read(
    trainyard: Call,  # noqa: F811
    kubectl: StandIn,
) -> None:
    """Kueue 0.14 has no v1beta2."""
    names = {"plural": "clusterqueues", "kind": "ClusterQueue"}
    versions = [{"name": "v1alpha1", "served": False}, {"name": "v1beta1", "served": True}]
    crd = {"spec": {"group": "kueue.x-k8s.io", "names": names, "versions": versions}}
    foreign = {"spec": {"group": "example.com", "names": {}, "versions": []}}
    queue = {"metadata": {"name": "research"}}
    kubectl.answer({CRDS: listed(crd, foreign), CLUSTER_QUEUES.format("v1beta1"): listed(queue)})
    found = read(trainyard, "--context", "lab")["objects"]
    assert [(each["apiVersion"], each["kind"]) for each in found] == [
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
        ("kueue.x-k8s.io/v1beta1", "ClusterQueue"),
    ]


def test_what_may_not_be_read_is_listed(
    trainyard: Call,  # noqa: F811
    kubectl: StandIn,
) -> None:
    kubectl.answer({f"{NODES.path()}?limit=500": "Error from server (Forbidden): nodes ..."})
    assert read(trainyard, "--context", "lab")["unread"] == [
        {"resource": "nodes", "reason": "forbidden"}
    ]
    assert "not read, forbidden: nodes" in trainyard("facts", "lab", "--context", "lab").out


@pytest.mark.parametrize(
    "said", ["Unable to connect to the server: EOF", "error: You must be logged in to the server"]
)
def test_server_that_does_not_answer_ends_it(
    trainyard: Call,  # noqa: F811
    kubectl: StandIn,
    said: str,
) -> None:
    """Nothing that is half read is kept."""
    kubectl.answer({f"{NODES.path()}?limit=500": said})
    ended = trainyard("facts", "lab", "--context", "lab")
    assert (ended.code, said in ended.err) == (5, True)


def test_context_of_another_cluster_is_refused(
    trainyard: Call,  # noqa: F811
    kubectl: StandIn,
) -> None:
    """Before anything is read."""
    StandIn(kubectl.folder, "https://other.example.com:6443")
    ended = trainyard("facts", "lab", "--context", "lab")
    assert ended.code == 2
    assert "context `lab` is of https://other.example.com:6443" in ended.err
    assert len(kubectl.calls) == 1


def test_missing_kubectl_is_named(
    trainyard: Call,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    ended = trainyard("facts", "lab", "--context", "lab")
    assert (ended.code, "kubectl" in ended.err) == (4, True)


def test_dumps_of_any_form_have_the_same_facts(
    repository: Path,  # noqa: F811
    trainyard: Call,  # noqa: F811
) -> None:
    """A List, documents of YAML, a folder, and the facts themselves; a Secret is dropped."""
    node = {"apiVersion": "v1", "kind": "Node", **NODE}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"k": "v"}}
    folder = repository / "dump/deep"
    folder.mkdir(parents=True)
    (folder / "all.json").write_text(json.dumps(listed(secret, node)), "utf-8")
    stream = f"---\n{json.dumps(secret)}\n---\n{json.dumps(node)}\n"
    (repository / "all.yaml").write_text(stream, "utf-8")
    found = read(trainyard, "--from", "dump")
    assert found["objects"] == [KEPT]
    assert "nodes" not in {each["resource"] for each in found["unread"]}
    assert {each["reason"] for each in found["unread"]} == {"none is in the dump"}
    assert read(trainyard, "--from", "all.yaml", "--from", "dump") == found

    assert trainyard("facts", "lab", "--from", "dump", "--format", "json:facts.json").code == 0
    assert read(trainyard, "--from", "facts.json") == found


def test_folder_may_have_other_files(
    repository: Path,  # noqa: F811
    trainyard: Call,  # noqa: F811
) -> None:
    """Values of a chart are passed over; what a broken file would have had is not known."""
    node = {"apiVersion": "v1", "kind": "Node", **NODE}
    folder = repository / "dump"
    folder.mkdir()
    (folder / "nodes.json").write_text(json.dumps(node), "utf-8")
    (folder / "values.yaml").write_text("replicas: 1\n", "utf-8")
    (folder / "queues.json").write_text('{"kind": "List", "items": [', "utf-8")
    found = read(trainyard, "--from", "dump")
    assert found["objects"] == [KEPT]
    (why,) = found["skipped"]
    assert why.startswith("dump/queues.json is not JSON")
    assert f"not read: {why}" in trainyard("facts", "lab", "--from", "dump").out
    named = trainyard("facts", "lab", "--from", "dump/values.yaml")
    assert (named.code, "not a Kubernetes object" in named.err) == (5, True)


@pytest.mark.parametrize(
    ("content", "code", "text"),
    [
        ({"format": "facts", "version": 1, "result": {}}, 5, "another version"),
        ({"format": "facts", "version": 2, "result": {"cluster": "lab"}}, 5, "no list of objects"),
        ({"format": "facts", "version": 2, "result": {"cluster": "x"}}, 2, "of cluster `x`"),
        ({"format": "facts", "version": 2, "result": []}, 2, "of cluster ``"),
        ({"a": 1}, 5, "not a Kubernetes object"),
        (listed({**KEPT}, {**KEPT, "spec": {}}), 5, "nodes n1 is handed in twice, and differs"),
        (
            {
                "format": "facts",
                "version": 2,
                "result": {
                    "cluster": "lab",
                    "objects": [],
                    "unread": [{"resource": "new"}],
                    "skipped": [],
                },
            },
            5,
            "does not read",
        ),
    ],
)
def test_what_is_no_dump_is_refused(
    repository: Path,  # noqa: F811
    trainyard: Call,  # noqa: F811
    content: Any,
    code: int,
    text: str,
) -> None:
    (repository / "dump.json").write_text(json.dumps(content), "utf-8")
    ended = trainyard("facts", "lab", "--from", "dump.json")
    assert (ended.code, text in ended.err) == (code, True), ended


def test_folder_without_a_dump_and_two_sources_are_refused(
    repository: Path,  # noqa: F811
    trainyard: Call,  # noqa: F811
) -> None:
    (repository / "empty").mkdir()
    assert trainyard("facts", "lab", "--from", "empty").code == 5
    assert trainyard("facts", "lab", "--from", "empty", "--context", "lab").code == 2
    assert trainyard("facts", "lab").code == 2
    assert trainyard("facts", "moon", "--from", "empty").code == 2


def test_profiles_with_an_error_are_reported(
    repository: Path,  # noqa: F811
    trainyard: Call,  # noqa: F811
) -> None:
    edit(repository / "profiles/teams/nlp.yaml", "contact:", "contct:")
    ended = trainyard("facts", "lab", "--from", "dump.json")
    assert (ended.code, "unknown-key" in ended.out) == (1, True)
