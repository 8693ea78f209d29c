"""Check that only the platform can create a namespace with a team's name or label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from trainyard.diagnostics import Pointer
from trainyard.model.names import SYSTEM_NAMESPACE
from trainyard.model.reserved import shadowing_namespaces
from trainyard.model.trusted import trusted_namespaces
from trainyard.render.views.cluster import ClusterView
from trainyard_rehearsal.checks.jobs import as_account, as_deputy
from trainyard_rehearsal.checks.new_roles import wait_until_permitted
from trainyard_rehearsal.checks.outsiders import requested_namespace
from trainyard_rehearsal.checks.refusals import OF_TEAM
from trainyard_rehearsal.checks.request_cases import RequestCase, RequestTally
from trainyard_rehearsal.checks.variants import as_json, with_change
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
"""Account that creates the projects which users request."""

_TRUSTED = "is for daemons and controllers, which the platform's policies trust"
_REQUESTER_FIXED = "is a cluster admin's to change"
_OPERATOR = "system:serviceaccount:kube-system:operator-of-the-rehearsal"
"""Account of a namespace of daemons, which may create namespaces."""

_NAME = "is reserved for the platform"
_LABEL = "only the platform's delivery changes it"
_CLASSES = "names the classes that members may claim"
_REQUEST = "can't be requested"
_ADOPTED = "was requested as a project by"


def check_team_namespaces(lab: Lab) -> Iterator[Outcome]:
    """Try to create a namespace with a team's name or label, and to label an existing one.

    Args:
        lab: with the tree applied.
    """
    project = with_change(_namespace(_PROJECT), _REQUESTER)
    prepared = [project, *_maker()]
    for body in prepared:
        lab.api.apply(body)
    hostile, harmless = RequestTally(), RequestTally()
    maker = lab.api.acting(_MAKER, ["system:authenticated"])
    wait_until_permitted(lab, maker, "create", "namespaces")
    label = {"metadata": {"labels": {lab.plan.site.cluster.team_label_key: "rehearsal"}}}
    team = _namespace("team-rehearsal")
    reserved = [
        team,
        _namespace(SYSTEM_NAMESPACE),
        *map(_namespace, shadowing_namespaces(lab.plan.site)),
    ]
    for each in (maker, as_deputy(lab.api)):
        hostile.send(_create(lab, each, reserved, _NAME))
        hostile.send(_create(lab, each, [with_change(_namespace("rehearsal"), label)], _LABEL))
        hostile.send(_claims_to_be_a_teams(lab, each, label))
    if lab.plan.site.cluster.release.has_projects:
        hostile.send(_create(lab, lab.api, [with_change(team, _REQUESTER)], _REQUEST))
        hostile.send(_create(lab, _apiserver(lab), [team], _NAME))
        hostile.send(_change(lab, lab.api, label, _ADOPTED))
    hostile.send(_of_team(lab, _strangers(lab, maker), OF_TEAM))
    hostile.send(_for_platform(lab, maker))
    harmless.send(_harmless(lab, maker, with_change(team, label)))
    yield hostile.outcome("false team namespaces refused")
    yield harmless.outcome("other namespaces accepted")
    for body in reversed(prepared):
        lab.api.delete(body)


def _harmless(lab: Lab, maker: Api, team: Body) -> Iterator[RequestCase]:
    """Yield what the delivery, operators and users do with namespaces."""
    yield from _of_team(lab, [lab.api], "")
    yield from _create(lab, as_account(lab.api, _OPERATOR), _absent(lab), "")
    yield from _create(lab, lab.api, [team], "")
    yield from _create(lab, maker, map(_namespace, ("rehearsal", "rehearsal-team-x")), "")
    yield from _change(lab, maker, {"metadata": {"labels": {"mine": "x"}}}, "")


def _claims_to_be_a_teams(lab: Lab, maker: Api, label: Body) -> Iterator[RequestCase]:
    """Yield changes of a project to what a team's namespace has, also to empty values."""
    cluster = lab.plan.site.cluster
    unnamed = {"metadata": {"labels": {cluster.team_label_key: ""}}}
    yield from _change(lab, maker, label, _LABEL)
    yield from _change(lab, maker, unnamed, _LABEL)
    yield from _create(lab, maker, [with_change(_namespace("rehearsal"), unnamed)], _LABEL)
    for classes in ("", "of-nobody"):
        change = {"metadata": {"annotations": {ClusterView(cluster).claimable_key: classes}}}
        yield from _change(lab, maker, change, _CLASSES)


def _strangers(lab: Lab, maker: Api) -> list[Api]:
    """Return who may change namespaces, and none of a team."""
    has_projects = lab.plan.site.cluster.release.has_projects
    return [maker, _apiserver(lab)] if has_projects else [maker]


def _of_team(lab: Lab, makers: Iterable[Api], refusal: str) -> Iterator[RequestCase]:
    """Yield changes of the namespace of a team, and its deletion."""
    site = lab.plan.site
    for name in (site.spaces[0].namespace, site.cluster.system_namespace):
        yield from _changes_of(_namespace(name), site.cluster.at, makers, refusal)


def _changes_of(
    body: Body, at: Pointer, makers: Iterable[Api], refusal: str
) -> Iterator[RequestCase]:
    changes: tuple[Body, ...] = (
        {"labels": {"pod-security.kubernetes.io/enforce": "privileged"}},
        {"labels": {"mine": "x"}},
        {"annotations": {"argocd.argoproj.io/sync-options": None}},
        {"annotations": {"mine": "x"}},
    )
    for maker in makers:
        for metadata in changes:
            request = partial(maker.patch, body, {"metadata": metadata}, dry_run=True)
            display = f"namespace {body['metadata']['name']} changed to {as_json(metadata)}"
            yield RequestCase(display, request, at, refusal)
        delete = partial(maker.delete, body, dry_run=True)
        yield RequestCase(f"namespace {body['metadata']['name']} deleted", delete, at, refusal)


def _for_platform(lab: Lab, maker: Api) -> Iterator[RequestCase]:
    """Yield attempts of a user to get a namespace whose pods or accounts have no limits."""
    for each in (maker, as_deputy(lab.api)):
        yield from _create(lab, each, _trusted(lab), _TRUSTED)
    if lab.plan.site.cluster.release.has_projects:
        yield from _create(lab, _apiserver(lab), _trusted(lab), _REQUEST)
        yield from _unmark(lab, maker)


def _trusted(lab: Lab) -> list[Body]:
    """Return namespaces whose pods or accounts have no limits, by their names."""
    found = trusted_namespaces(lab.plan.site.cluster)
    return [_namespace(name.replace("*", "rehearsal-of-a-user")) for name in found]


def _absent(lab: Lab) -> list[Body]:
    """Return those of them that do not exist."""
    found = {each["metadata"]["name"] for each in lab.api.list("v1", "Namespace")}
    return [trusted for trusted in _trusted(lab) if trusted["metadata"]["name"] not in found]


def _unmark(lab: Lab, maker: Api) -> Iterator[RequestCase]:
    """Yield the removal of the mark that a user requested a namespace."""
    change = {"metadata": {"annotations": {"openshift.io/requester": None}}}
    body = _namespace(requested_namespace(lab))
    request = partial(maker.patch, body, change, dry_run=True)
    display = f"a requested project for daemons changed to {as_json(change)}"
    yield RequestCase(display, request, lab.plan.site.cluster.at, _REQUESTER_FIXED)


def _apiserver(lab: Lab) -> Api:
    """Return the API for OpenShift's own API server, which may do anything."""
    groups = [
        "system:masters",
        "system:serviceaccounts",
        "system:serviceaccounts:openshift-apiserver",
    ]
    return lab.api.acting(_OPENSHIFT, groups)


def _create(lab: Lab, maker: Api, bodies: Iterable[Body], refusal: str) -> Iterator[RequestCase]:
    for body in bodies:
        display = f"a new Namespace {as_json(body['metadata'])}: {refusal}"
        request = partial(maker.create, body, dry_run=True)
        yield RequestCase(display, request, lab.plan.site.cluster.at, refusal)


def _change(lab: Lab, maker: Api, change: Body, refusal: str) -> Iterator[RequestCase]:
    display = f"a requested project changed to {as_json(change)}: {refusal}"
    request = partial(maker.patch, _namespace(_PROJECT), change, dry_run=True)
    yield RequestCase(display, request, lab.plan.site.cluster.at, refusal)


def _namespace(name: str) -> Body:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _maker() -> Iterator[Body]:
    """Yield a role and its binding for a user who may only create and change namespaces."""
    metadata = {"name": "rehearsal-namespaces"}
    rule = {
        "apiGroups": [""],
        "resources": ["namespaces"],
        "verbs": ["create", "delete", "get", "patch", "update"],
    }
    version = f"{_RBAC}/v1"
    yield {"apiVersion": version, "kind": "ClusterRole", "metadata": metadata, "rules": [rule]}
    yield {
        "apiVersion": version,
        "kind": "ClusterRoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": metadata["name"]},
        "subjects": [
            {"apiGroup": _RBAC, "kind": "User", "name": name} for name in (_MAKER, _OPERATOR)
        ],
    }
