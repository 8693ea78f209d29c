from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.rehearsal.served import Served
from trainyard.diagnostics import Pointer
from trainyard.model.manifest import Manifest
from trainyard.render.unit import UNLISTED
from trainyard.workflows.generate import Generation
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
    """Nobody binds claims here."""
    monkeypatch.setattr("trainyard_rehearsal.checks.acceptance.settle", lambda _lab: 2)


def _checked(lab: Lab, *manifests: Manifest) -> dict[str, Outcome]:
    return {outcome.promise: outcome for outcome in check_acceptance(lab, manifests)}


def test_order_is_argo_cds() -> None:
    """Wave, then kind, then name; the platform before the teams."""
    shuffled = [
        _manifest("Pod", "b", "teams/nlp"),
        _manifest("Namespace", "n", "teams/nlp"),
        _manifest("Pod", "late", **{_WAVE: "2"}),
        _manifest("Pod", "early", **{_WAVE: "-1"}),
        _manifest("ResourceQuota", "q"),
        _manifest("Pod", "a"),
    ]
    assert [each.name for each in in_sync_order(shuffled)] == ["early", "q", "a", "late", "n", "b"]


def test_namespaces_come_before_what_is_in_them(generation: Generation) -> None:
    """In the trees of this repository no object comes before its namespace, nor a local queue
    before its own."""
    for manifests in generation.manifests.values():
        ordered = in_sync_order(each for each in manifests if each.unit not in UNLISTED)
        places = {(each.kind.name, each.name): i for i, each in enumerate(ordered)}
        for i, each in enumerate(ordered):
            assert places.get(("Namespace", each.namespace), -1) < i
            if each.kind.name == "LocalQueue":
                assert places["ClusterQueue", each.body["spec"]["clusterQueue"]] < i


def test_accepted_twice_and_the_same(lab: Lab, server: Served) -> None:
    """Each object is applied two times; what comes out the same is no change."""
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


def test_committed_file_is_what_is_applied(lab: Lab, server: Served) -> None:
    """An object of the tree is sent as the bytes of its file, one of a component as data."""
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
    """An object that is refused, or only warned of, is told in the server's words with its
    profile."""
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


def test_meant_warning_is_none(lab: Lab, server: Served) -> None:
    """What nobody can do otherwise is not held against the tree."""
    text = (
        "training.kubeflow.org/x is deprecated and will be removed in a future release of "
        "Kubeflow Trainer"
    )
    server.warned["/api/v1/namespaces/a/pods/a"] = [text]
    assert _checked(lab, _manifest("Pod", "a"))["objects accepted"].fine


def test_unknown_kind_is_never_skipped(lab: Lab) -> None:
    """A kind that the server does not have fails, and so does its object."""
    outcomes = _checked(lab, _manifest("Secret", "s"), _manifest("Pod", "p"))
    assert (outcomes["kinds known"].held, outcomes["kinds known"].tried) == (1, 2)
    assert (
        outcomes["objects accepted"].failures[0].words == "no kind Secret in v1 on this API server"
    )


def test_second_apply_that_changes_is_told(lab: Lab, server: Served) -> None:
    """A field that somebody else rewrites is a difference for ever: its values are told, status is
    not looked at."""
    counts = iter(range(100))

    def rewrite(_: str, body: dict[str, Any]) -> None:
        body["spec"], body["status"] = {"replicas": next(counts)}, {"seen": next(counts)}

    server.react = rewrite
    outcome = _checked(lab, _manifest("Pod", "a"))["second apply changes nothing"]
    assert [each.words for each in outcome.failures] == [
        "spec changed: {'replicas': 0} -> {'replicas': 2}"
    ]


def test_kubectl_leaves_nothing_at_home(lab: Lab) -> None:
    """What kubectl still finds is told; its cache and its temporary files stay in the folder of the
    run."""
    kubectl = Path(lab.built.programs["kubectl"])
    kubectl.write_text('#!/bin/sh\necho "$HOME $TMPDIR $KUBECONFIG"\nexit 1\n', encoding="utf-8")
    (failure,) = _checked(lab, _manifest("Pod", "a"))["server-side diff is empty"].failures
    home = lab.kubeconfig.parent
    assert failure.words == f"{home} {home} {lab.kubeconfig}"
