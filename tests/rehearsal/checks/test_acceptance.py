from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.rehearsal.served import Served
from trainyard.diagnostics import Pointer
from trainyard.generation.generate import Generation
from trainyard.model.manifest import UNLISTED, Manifest
from trainyard_rehearsal.checks.acceptance import check_acceptance, in_sync_order
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.outcome import Outcome

_WAVE = "argocd.argoproj.io/sync-wave"


def _manifest(kind: str, name: str, unit: str = "platform", **annotations: str) -> Manifest:
    metadata = {
        "name": name,
        "namespace": "a",
        **({"annotations": annotations} if annotations else {}),
    }
    body: dict[str, Any] = {"apiVersion": "v1", "kind": kind, "metadata": metadata}
    return Manifest(f"{unit}/{kind.lower()}-{name}.yaml", body, ("p.yaml",), Pointer("p.yaml"))


@pytest.fixture(autouse=True)
def _settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """No provisioner binds claims here."""
    monkeypatch.setattr("trainyard_rehearsal.checks.acceptance.settle", lambda _lab: 2)


def _checked(lab: Lab, *manifests: Manifest) -> dict[str, Outcome]:
    return {outcome.promise: outcome for outcome in check_acceptance(lab, manifests)}


def test_objects_are_applied_in_argo_cds_order() -> None:
    """They are sorted by wave, kind and name, the platform before the teams."""
    shuffled = [
        _manifest("Pod", "b", "teams/nlp"),
        _manifest("Namespace", "n", "teams/nlp"),
        _manifest("Pod", "late", **{_WAVE: "2"}),
        _manifest("Pod", "early", **{_WAVE: "-1"}),
        _manifest("ResourceQuota", "q"),
        _manifest("Pod", "a"),
    ]
    assert [each.name for each in in_sync_order(shuffled)] == ["early", "q", "a", "late", "n", "b"]


def test_namespaces_precede_their_objects(generation: Generation) -> None:
    """In the trees of this repository a ClusterQueue also precedes its LocalQueues."""
    for manifests in generation.manifests.values():
        _assert_dependencies_first(in_sync_order(_listed(manifests)))


def _listed(manifests: Iterable[Manifest]) -> list[Manifest]:
    return [each for each in manifests if each.unit not in UNLISTED]


def _assert_dependencies_first(ordered: list[Manifest]) -> None:
    places = {(each.kind.name, each.name): i for i, each in enumerate(ordered)}
    for i, each in enumerate(ordered):
        assert places.get(("Namespace", each.namespace), -1) < i
        if each.kind.name == "LocalQueue":
            assert places["ClusterQueue", each.body["spec"]["clusterQueue"]] < i


def test_unchanged_objects_pass_the_second_apply(lab: Lab, server: Served) -> None:
    """Each object is applied twice and comes out the same."""
    outcomes = _checked(lab, _manifest("Pod", "a"), _manifest("Pod", "b"))

    assert all(outcome.fine for outcome in outcomes.values())
    assert {name: outcome.tried for name, outcome in outcomes.items()} == {
        "kinds known": 1,
        "objects accepted": 2,
        "second apply changes nothing": 2,
        "server-side diff is empty": 2,
    }
    assert (
        outcomes["second apply changes nothing"].remark
        == "2 volumes stand in for those of provisioners"
    )
    assert [request.method for request in server.requests].count("PATCH") == 4


def test_committed_bytes_are_applied(lab: Lab, server: Served) -> None:
    """An object of a component has no file in the tree, and is sent as JSON."""
    ours, component = _manifest("Pod", "a"), _manifest("Pod", "b")
    file = lab.plan.tree / ours.path
    file.parent.mkdir(parents=True)
    file.write_bytes(b"# ours\napiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: a}\n")
    _checked(lab, ours, component)
    sent = {
        request.path: request.content[:6]
        for request in server.requests
        if request.method == "PATCH"
    }

    assert sent == {
        "/api/v1/namespaces/a/pods/a": b"# ours",
        "/api/v1/namespaces/a/pods/b": b'{"apiV',
    }


def test_refusals_and_warnings_are_failures(lab: Lab, server: Served) -> None:
    """A failure has the server's message and the place in the profile."""
    server.refused["PATCH", "/api/v1/namespaces/a/pods/a"] = (
        500,
        ".spec.x: field not declared in schema",
    )
    server.put("v1", "Pod", "a", "a")
    server.warned["/api/v1/namespaces/a/pods/b"] = ["would violate PodSecurity"]
    outcome = _checked(lab, *(_manifest("Pod", name) for name in "abc"))["objects accepted"]

    assert (outcome.held, outcome.tried) == (1, 3)
    assert [each.words for each in outcome.failures] == [
        ".spec.x: field not declared in schema",
        '299 - "would violate PodSecurity"',
    ]
    assert {each.at for each in outcome.failures} == {Pointer("p.yaml")}


def test_expected_warning_is_no_failure(lab: Lab, server: Served) -> None:
    """Trainer has to warn of a deprecated runtime."""
    text = (
        "training.kubeflow.org/x is deprecated and will be removed in a future release of "
        "Kubeflow Trainer"
    )
    server.warned["/api/v1/namespaces/a/pods/a"] = [text]
    assert _checked(lab, _manifest("Pod", "a"))["objects accepted"].fine


def test_unknown_kind_is_a_failure(lab: Lab) -> None:
    """Its objects are failures as well."""
    outcomes = _checked(lab, _manifest("Secret", "s"), _manifest("Pod", "p"))
    assert (outcomes["kinds known"].held, outcomes["kinds known"].tried) == (1, 2)
    assert (
        outcomes["objects accepted"].failures[0].words == "no kind Secret in v1 on this API server"
    )


def test_change_by_the_second_apply_is_reported(lab: Lab, server: Served) -> None:
    """The failure has the old and the new value. A change of the status is not a failure."""
    counts = iter(range(100))

    def rewrite(_: str, body: dict[str, Any]) -> None:
        body["spec"], body["status"] = {"replicas": next(counts)}, {"seen": next(counts)}

    server.react = rewrite
    outcome = _checked(lab, _manifest("Pod", "a"))["second apply changes nothing"]
    assert [each.words for each in outcome.failures] == [
        "spec changed: {'replicas': 0} -> {'replicas': 2}"
    ]


def test_kubectl_writes_only_into_the_run_folder(lab: Lab) -> None:
    """Its cache and temporary files stay in the folder of the run; its output is reported."""
    kubectl = Path(lab.built.programs["kubectl"])
    kubectl.write_text('#!/bin/sh\necho "$HOME $TMPDIR $KUBECONFIG"\nexit 1\n', encoding="utf-8")
    (failure,) = _checked(lab, _manifest("Pod", "a"))["server-side diff is empty"].failures
    home = lab.kubeconfig.parent
    assert failure.words == f"{home} {home} {lab.kubeconfig}"
