"""Check that a namespace without a team gets neither keys of the platform nor volumes of teams."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from trainyard.model import names
from trainyard.model.cluster import Cluster
from trainyard_rehearsal.checks.access_requests import claim_spec
from trainyard_rehearsal.checks.jobs import as_account, as_deputy
from trainyard_rehearsal.checks.new_roles import wait_until_permitted
from trainyard_rehearsal.checks.refusals import ADOPTED, OF_PLATFORM, STORE
from trainyard_rehearsal.checks.request_cases import RequestCase, RequestTally
from trainyard_rehearsal.checks.variants import as_json
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.outcome import Outcome

_NAMESPACE = "rehearsal-project"
_USER = "project-admin@example.com"
_OPERATOR = "system:serviceaccount:external-secrets:external-secrets"
_REPLICATOR = "system:serviceaccount:kube-system:replicator-kubernetes-replicator"
"""Its manifest is of that namespace
(mittwald/kubernetes-replicator:deploy/deployment.yaml@e96565e)."""

_DEPUTY = "system:serviceaccount:openshift-infra:template-instance-controller"
"""It creates what a tenant's template says, with the role ``admin`` in every namespace."""

_RBAC = "rbac.authorization.k8s.io"
_KEY = {"key": "ml/teams/nlp/checkpoints"}


def check_platform_data(lab: Lab) -> Iterator[Outcome]:
    """Name the platform's stores and classes as the admin of a project.

    Args:
        lab: with the tree applied.
    """
    cluster = lab.plan.site.cluster
    bodies = list(_project())
    for body in bodies:
        lab.api.apply(body)
    user = lab.api.acting(_USER, ["system:authenticated"])
    hostile, harmless = RequestTally(), RequestTally()
    for each in (user, as_account(lab.api, _DEPUTY)):
        wait_until_permitted(lab, each, "create", "persistentvolumeclaims", _NAMESPACE)
        hostile.send(_create(each, cluster, naming_stores(cluster, _NAMESPACE), STORE))
        hostile.send(_create(each, cluster, _claiming(cluster), ADOPTED))
    deputy = as_deputy(lab.api)
    for each in (deputy, as_account(lab.api, _REPLICATOR)):
        hostile.send(_create(each, cluster, _copied(), OF_PLATFORM))
    harmless.send(_create(deputy, cluster, _certificate(), ""))
    harmless.send(_create(user, cluster, _harmless(cluster), ""))
    operator = as_account(lab.api, _OPERATOR)
    wait_until_permitted(lab, operator, "create", "externalsecrets.external-secrets.io", _NAMESPACE)
    harmless.send(_create(operator, cluster, naming_stores(cluster, _NAMESPACE), ""))
    yield hostile.outcome("platform's data refused to others")
    yield harmless.outcome("others' own data let through")
    for body in reversed(bodies):
        lab.api.delete(body)


def _create(
    user: Api, cluster: Cluster, bodies: Iterator[Body], refusal: str
) -> Iterator[RequestCase]:
    for body in bodies:
        display = f"{body['kind']} {as_json(body)}"[:200]
        yield RequestCase(display, partial(user.create, body, dry_run=True), cluster.at, refusal)


def naming_stores(cluster: Cluster, namespace: str) -> Iterator[Body]:
    """Yield an ExternalSecret for each field that names a store of the platform."""
    for name in cluster.secret_stores:
        store = {"kind": "ClusterSecretStore", "name": name}
        data = {"secretKey": "a", "remoteRef": _KEY, "sourceRef": {"storeRef": store}}
        own = {"secretStoreRef": {"kind": "SecretStore", "name": "own"}}
        yield _secret({"secretStoreRef": store, "dataFrom": [{"extract": _KEY}]}, namespace)
        yield _secret({**own, "data": [data]}, namespace)
        for source in ({"extract": _KEY}, {"find": {"path": "ml"}}):
            named = {**source, "sourceRef": {"storeRef": store}}
            yield _secret({**own, "dataFrom": [named]}, namespace)


def _claiming(cluster: Cluster) -> Iterator[Body]:
    """Yield claims that a volume without a claim would be given to."""
    if cluster.guards_adopted:
        spec = claim_spec(names.ADOPTED_CLASS)
        yield _claim(spec)
        yield _claim({**spec, "volumeName": "of-a-team"})
        older = {"volume.beta.kubernetes.io/storage-class": names.ADOPTED_CLASS}
        yield _claim({**spec, "storageClassName": None}, older)


def _copied() -> Iterator[Body]:
    """Yield what some operators copy from anybody's namespace into the one that it names."""
    metadata = {"name": "rehearsal", "namespace": names.SYSTEM_NAMESPACE}
    yield from _role("Role", metadata, [], _USER)
    yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
    limits = {**metadata, "name": "trainjob-limits-rehearsal"}
    yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": limits}


def _certificate() -> Iterator[Body]:
    """Yield what a service mesh writes into every namespace."""
    metadata = {"name": "istio-ca-root-cert", "namespace": names.SYSTEM_NAMESPACE}
    yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


def _harmless(cluster: Cluster) -> Iterator[Body]:
    yield _claim(claim_spec("of-everybody"))
    if cluster.secret_stores:
        own = {"kind": "SecretStore", "name": cluster.secret_stores[0]}
        other = {"kind": "ClusterSecretStore", "name": "of-everybody"}
        for store in (own, other):
            yield _secret({"secretStoreRef": store, "dataFrom": [{"extract": _KEY}]}, _NAMESPACE)


def _secret(spec: Body, namespace: str) -> Body:
    version = "external-secrets.io/v1"
    return {
        "apiVersion": version,
        "kind": "ExternalSecret",
        "metadata": {"name": "x", "namespace": namespace},
        "spec": spec,
    }


def _claim(spec: Body, annotations: Body | None = None) -> Body:
    metadata = {**_metadata("x"), "annotations": annotations or {}}
    kind = "PersistentVolumeClaim"
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec}


def _project() -> Iterator[Body]:
    """Yield a project, what its admin may create, and the role of External Secrets' operator."""
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _NAMESPACE}}
    rules = [
        {"apiGroups": [""], "resources": ["persistentvolumeclaims"], "verbs": ["create"]},
        {"apiGroups": ["external-secrets.io"], "resources": ["*"], "verbs": ["create"]},
    ]
    yield from _role("Role", _metadata("rehearsal"), rules, _USER)
    everywhere = [*rules, {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["update"]}]
    yield from _role("ClusterRole", {"name": "rehearsal-deputy"}, everywhere, _DEPUTY)
    copied = [
        {"apiGroups": [""], "resources": ["configmaps", "serviceaccounts"], "verbs": ["*"]},
        {"apiGroups": [_RBAC], "resources": ["roles", "rolebindings"], "verbs": ["*"]},
    ]
    yield from _role("ClusterRole", {"name": "rehearsal-replicator"}, copied, _REPLICATOR)
    rules = [
        {"apiGroups": ["external-secrets.io"], "resources": [kind], "verbs": ["create", "update"]}
        for kind in ("externalsecrets", "externalsecrets/status")
    ]
    yield from _role("ClusterRole", {"name": "rehearsal-external-secrets"}, rules, _OPERATOR)


def _role(kind: str, metadata: Body, rules: list[Body], user: str) -> Iterator[Body]:
    version = f"{_RBAC}/v1"
    yield {"apiVersion": version, "kind": kind, "metadata": metadata, "rules": rules}
    yield {
        "apiVersion": version,
        "kind": f"{kind}Binding",
        "metadata": metadata,
        "roleRef": {"apiGroup": _RBAC, "kind": kind, "name": metadata["name"]},
        "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": user}],
    }


def _metadata(name: str) -> dict[str, str]:
    return {"name": name, "namespace": _NAMESPACE}
