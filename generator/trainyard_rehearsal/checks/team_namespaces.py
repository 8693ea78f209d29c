"""Namespaces that others make: none takes the name or the label of a team."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from trainyard.model.names import SYSTEM_NAMESPACE
from trainyard_rehearsal.checks.admission import Tries, Try
from trainyard_rehearsal.checks.variants import shown, with_change
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.outcome import Outcome

_PROJECT = "rehearsal-project"
_MAKER = "namespace-maker@example.com"
_REQUESTER = {
    "metadata": {"annotations": {"openshift.io/requester": "self-provisioner@example.com"}}
}
_RBAC = "rbac.authorization.k8s.io"
_OPENSHIFT = "system:serviceaccount:openshift-apiserver:openshift-apiserver-sa"
"""Makes the projects that users request, in its own name."""

_NAME = "is made by the platform's delivery alone"
_LABEL = "only the platform's delivery changes it"
_REQUEST = "can't be requested"
_ADOPTED = "was requested as a project by"


def check_team_namespaces(lab: Lab) -> Iterator[Outcome]:
    """Try to make a namespace that a team will have, and to make a team's out of one that is there.

    Args:
        lab: with the tree applied.
    """
    project = with_change(_namespace(_PROJECT), _REQUESTER)
    settled = [project, *_maker()]
    for body in settled:
        lab.api.apply(body)
    bad, good = Tries(), Tries()
    maker = lab.api.acting(_MAKER, ["system:authenticated"])
    label = {"metadata": {"labels": {lab.plan.site.cluster.team_label_key: "rehearsal"}}}
    team = _namespace("team-rehearsal")
    bad.make(_made(lab, maker, [team, _namespace(SYSTEM_NAMESPACE)], _NAME))
    bad.make(_made(lab, maker, [with_change(_namespace("rehearsal"), label)], _LABEL))
    bad.make(_changed(lab, maker, label, _LABEL))
    if lab.plan.site.cluster.release.has_projects:
        bad.make(_made(lab, lab.api, [with_change(team, _REQUESTER)], _REQUEST))
        bad.make(_made(lab, _apiserver(lab), [team], _REQUEST))
        bad.make(_changed(lab, lab.api, label, _ADOPTED))
    good.make(_made(lab, lab.api, [with_change(team, label)], ""))
    good.make(_made(lab, maker, [_namespace("rehearsal"), _namespace("rehearsal-team-x")], ""))
    good.make(_changed(lab, maker, {"metadata": {"labels": {"mine": "x"}}}, ""))
    yield bad.outcome("strangers' namespaces kept from teams")
    yield good.outcome("other namespaces pass")
    for body in reversed(settled):
        lab.api.delete(body)


def _apiserver(lab: Lab) -> Api:
    """Return the API as OpenShift's own server calls it, which may do anything."""
    groups = [
        "system:masters",
        "system:serviceaccounts",
        "system:serviceaccounts:openshift-apiserver",
    ]
    return lab.api.acting(_OPENSHIFT, groups)


def _made(lab: Lab, maker: Api, bodies: list[Body], words: str) -> Iterator[Try]:
    for body in bodies:
        request = partial(maker.create, body, dry_run=True)
        yield Try(
            f"a new Namespace {shown(body['metadata'])}: {words}",
            request,
            lab.plan.site.cluster.at,
            words,
        )


def _changed(lab: Lab, maker: Api, change: Body, words: str) -> Iterator[Try]:
    request = partial(maker.patch, _namespace(_PROJECT), change, dry_run=True)
    yield Try(
        f"a requested project changed to {shown(change)}: {words}",
        request,
        lab.plan.site.cluster.at,
        words,
    )


def _namespace(name: str) -> Body:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _maker() -> Iterator[Body]:
    """Yield who may make and change namespaces, and nothing else: an operator that gives users namespaces."""
    metadata = {"name": "rehearsal-namespaces"}
    rule = {
        "apiGroups": [""],
        "resources": ["namespaces"],
        "verbs": ["create", "get", "patch", "update"],
    }
    yield {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": metadata,
        "rules": [rule],
    }
    yield {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": metadata["name"]},
        "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": _MAKER}],
    }
