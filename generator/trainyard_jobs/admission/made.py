"""Objects that a cluster has, as the requests that would make them again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from trainyard.model.admission import Request
from trainyard.model.facts import BOUND
from trainyard.model.lookup import mapping, mappings, text
from trainyard.model.manifest import Manifest
from trainyard.model.names import ADMITTED_LABEL, JOB_LABEL
from trainyard_jobs.admission import operated
from trainyard_jobs.admission.bodies import (
    Body,
    Owner,
    controller_of,
    has_started,
    is_over,
    is_trainers,
    owner_of,
)
from trainyard_jobs.admission.operated import MPI_JOB, TRAIN_JOB

_MAKERS: Final = {
    "CronJob": "job-controller",
    "DaemonSet": "daemon-set-controller",
    "Deployment": "replicaset-controller",
    "Job": "job-controller",
    "ReplicaSet": "replicaset-controller",
    "ReplicationController": "replication-controller",
    "StatefulSet": "statefulset-controller",
}
"""Kinds with a template of pods, and the account in ``kube-system`` that makes these."""
_OTHERS: Final = {
    **{kind: f"{kind.lower()}s" for kind in operated.KINDS},
    "PersistentVolumeClaim": "persistentvolumeclaims",
    "ResourceQuota": "resourcequotas",
    "RoleBinding": "rolebindings",
    "StatefulSet": "statefulsets",
    TRAIN_JOB: "trainjobs",
}
"""Kinds that are judged as they are, and their names in the API's paths."""
_ACCOUNTS = "system:serviceaccounts"
_HASH = "pod-template-hash"
_WRITTEN_LATER = (
    "k8s.ovn.org/pod-networks",
    "pv.kubernetes.io/",
    "volume.beta.kubernetes.io/storage-provisioner",
    "volume.kubernetes.io/",
)
"""Begins of annotations that controllers write on a pod or claim that is there."""
_MPI_JOB_LIMITS = Owner("", "ValidatingAdmissionPolicy", "trainyard-mpijob-limits")
"""The policy of a tree in which a team may create MPIJobs."""


@dataclass(frozen=True, slots=True)
class Made:
    """A request that would make an object again, for whom, and the object that it is read from."""

    owner: Owner
    request: Request
    source: Owner


@dataclass(frozen=True)
class Dump:
    """Objects of a cluster, of any kind.

    Args:
        bodies: as the API server returns them.
        tree: those of them that the tree has, so that they are not judged.
        has_mpi_jobs: whether a team of the tree may create MPIJobs, which then are judged as such.
    """

    bodies: tuple[Body, ...]
    tree: frozenset[Owner] = frozenset()
    has_mpi_jobs: bool = False

    def beside(self, manifests: Iterable[Manifest]) -> Dump:
        """Return the dump of a cluster that has the objects of a tree."""
        tree = frozenset(owner_of(each.body) for each in manifests)
        return Dump(self.bodies, tree, _MPI_JOB_LIMITS in tree)

    def requests(self) -> Iterator[Made]:
        """Yield what makes these objects again, without those that are the tree's.

        A pod of which the dump has the template is judged by that. An account that is not known is
        one of the object's namespace, without any right.
        """
        for maker, body in self._templates():
            yield from (Made(self.top(body), each, maker) for each in self._pods_of(maker, body))
        yield from self._pods_without_template()
        for body in self.bodies:
            if self._is_judged(body):
                yield Made(self.top(body), _of_other(body), owner_of(body))

    def _is_judged(self, body: Body) -> bool:
        """Return whether an object is judged as it is."""
        owner = owner_of(body)
        if owner.kind not in _OTHERS or owner in self.tree:
            return False
        return not (is_over(body) or has_started(body) or is_trainers(body))

    def _pods_without_template(self) -> Iterator[Made]:
        for body in self.pods:
            above = controller_of(body)
            # A kubelet's static pod has its Node as owner.
            if above not in self._makers and above.kind != "Node":
                yield Made(self.top(body), _of_pod(body, above), owner_of(body))

    def _pods_of(self, maker: Owner, body: Body) -> Iterator[Request]:
        """Yield the creation of a pod of each template of an object."""
        if maker.kind in _MAKERS:
            yield _of_template(maker, body)
        elif not (self.has_mpi_jobs and maker.kind == MPI_JOB):
            yield from _of_operator(maker, body)

    def _templates(self) -> Iterator[tuple[Owner, Body]]:
        """Yield what makes pods, and whose own maker is not in the dump."""
        for maker, body in self._makers.items():
            is_made = controller_of(body) in self._makers
            if not (is_made or maker in self.tree or is_over(body)):
                yield maker, body

    @property
    def namespaces(self) -> frozenset[str]:
        """Names of namespaces that are in the dump, or that one of its objects is in."""
        owners = map(owner_of, self.bodies)
        return frozenset(
            each.name if each.kind == "Namespace" else each.namespace for each in owners
        )

    @cached_property
    def pods(self) -> tuple[Body, ...]:
        """The pods that run or wait."""
        return tuple(
            body for body in self.bodies if text(body, "kind") == "Pod" and not is_over(body)
        )

    @property
    def unknown_nodes(self) -> tuple[Owner, ...]:
        """Pods of which the dump does not say whether their maker or the scheduler chose the node.

        No controller of Kubernetes chooses one but by a template.
        """
        return tuple(self.top(body) for body in self.pods if _has_unknown_node(body))

    @cached_property
    def _makers(self) -> dict[Owner, Body]:
        """The objects with templates of pods."""
        kinds = {*_MAKERS, *operated.KINDS}
        found = (body for body in self.bodies if text(body, "kind") in kinds)
        return {owner_of(body): body for body in found if not is_trainers(body)}

    def top(self, body: Body) -> Owner:
        """Return what makes an object, as far up as the dump shows."""
        owner, above = owner_of(body), controller_of(body)
        seen: set[Owner] = set()
        while above.kind and above not in seen:
            seen.add(above)
            owner = above if above in self._makers else _deployment(above, body)
            body = self._makers.get(above, {})
            above = controller_of(body)
        return owner


def _of_template(maker: Owner, body: Body) -> Request:
    """Return the creation of a pod by the controller of its template."""
    by_cron = maker.kind == "CronJob"
    job = mapping(body, "spec", "jobTemplate") if by_cron else body
    template = mapping(job, "spec", "template")
    metadata = mapping(template, "metadata")
    kept = {key: metadata[key] for key in ("annotations", "labels") if metadata.get(key)}
    if JOB_LABEL in kept.get("labels", {}) and mapping(body, "spec").get("suspend") is True:
        # It has no pod before Kueue admits the JobSet, and gives its templates the label.
        kept["labels"] = {ADMITTED_LABEL: "node", **kept["labels"]}
    owner = _reference(maker, body, "Job" if by_cron else maker.kind)
    named = {"name": f"{maker.name}-xxxxx", "namespace": maker.namespace}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**kept, **named, "ownerReferences": [owner]},
        "spec": mapping(template, "spec"),
    }
    return Request(pod, "pods", *_controller_account(maker.kind))


def _of_operator(maker: Owner, body: Body) -> Iterator[Request]:
    """Yield the creation of a pod of each template, for an account that is not known."""
    owner = _reference(maker, body, maker.kind)
    for number, template in enumerate(operated.templates(body.get("spec"))):
        metadata = {**mapping(template, "metadata"), "ownerReferences": [owner]}
        named = {"name": f"{maker.name}-{number}", "namespace": maker.namespace}
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": _metadata({"metadata": {**metadata, **named}}),
            "spec": mapping(template, "spec"),
        }
        yield Request(pod, "pods", *_account(maker.namespace, "default"))


def _reference(maker: Owner, body: Body, kind: str) -> Body:
    """Return how a pod names what made it."""
    version = text(body, "apiVersion")
    return {
        "apiVersion": version,
        "controller": True,
        "kind": kind,
        "name": maker.name,
        "uid": "0",
    }


def _of_pod(body: Body, above: Owner) -> Request:
    """Return the creation of a pod that is there, without what was added since."""
    spec = dict(mapping(body, "spec"))
    if not _chose_node(body):
        spec.pop("nodeName", None)
    known = above.kind in _MAKERS
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": _metadata(body), "spec": spec}
    account = _controller_account(above.kind) if known else _account(above.namespace, "default")
    return Request(pod, "pods", *account)


def _of_other(body: Body) -> Request:
    """Return the creation of an object that is not a pod."""
    kind = text(body, "kind")
    spec = dict(mapping(body, "spec"))
    if BOUND in mapping(body, "metadata", "annotations"):
        spec.pop("volumeName", None)
    asked = {**body, "metadata": _metadata(body)} | ({"spec": spec} if spec else {})
    asked.pop("status", None)
    return Request(asked, _OTHERS[kind], *_account(owner_of(body).namespace, "default"))


def _metadata(body: Body) -> Body:
    """Return the metadata that the maker of an object writes."""
    metadata = mapping(body, "metadata")
    kept = ("finalizers", "labels", "name", "namespace", "ownerReferences")
    notes = mapping(metadata, "annotations").items()
    own = {key: value for key, value in notes if not key.startswith(_WRITTEN_LATER)}
    found = {key: metadata[key] for key in kept if metadata.get(key)}
    if owners := mappings(metadata, "ownerReferences"):
        found["ownerReferences"] = [_of_controller(each) for each in owners]
    return {**found, **({"annotations": own} if own else {})}


def _of_controller(owner: Body) -> Body:
    """Return an owner as an account of the namespace may name it; its own operator may say more."""
    return {**owner, "blockOwnerDeletion": False} if owner.get("controller") is True else owner


def _chose_node(body: Body) -> bool:
    """Return whether a pod's maker chose its node: a scheduler's binding is not a managed field."""
    entries = mappings(body, "metadata", "managedFields")
    return any("f:nodeName" in mapping(each, "fieldsV1", "f:spec") for each in entries)


def _has_unknown_node(body: Body) -> bool:
    is_placed = bool(text(body, "spec", "nodeName")) and not mappings(
        body, "metadata", "managedFields"
    )
    return is_placed and controller_of(body).kind not in {*_MAKERS, "Node"}


def _controller_account(kind: str) -> tuple[str, tuple[str, ...]]:
    return _account("kube-system", _MAKERS[kind])


def _account(namespace: str, name: str) -> tuple[str, tuple[str, ...]]:
    groups = ("system:authenticated", _ACCOUNTS, f"{_ACCOUNTS}:{namespace}")
    return f"system:serviceaccount:{namespace}:{name}", groups


def _deployment(above: Owner, pod: Body) -> Owner:
    """Return the Deployment of a ReplicaSet that the dump lacks: it gives the hash to its pods."""
    ending = f"-{mapping(pod, 'metadata', 'labels').get(_HASH)}"
    if above.kind == "ReplicaSet" and above.name.endswith(ending):
        return Owner(above.namespace, "Deployment", above.name.removesuffix(ending))
    return above
