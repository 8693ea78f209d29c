"""Facts of a cluster: the objects that were read of it, and what could not be read."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple

from trainyard.model.lookup import mappings, text

Body = Mapping[str, Any]

TRACKING = "argocd.argoproj.io/tracking-id"
"""Annotation of Argo CD: Application, group and kind, namespace and name of what it applied."""
INSTALLATION = "argocd.argoproj.io/installation-id"
"""Annotation of an Argo CD that has a name of its own (`installationID` of its settings)."""
BOUND = "pv.kubernetes.io/bound-by-controller"
"""Annotation of a claim whose volume Kubernetes chose
(kubernetes/component-helpers:storage/volume/helpers.go@v0.36.3)."""
_ACCOUNT = re.compile(r"//[^/@]*@")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind of object that is read.

    Args:
        group: of its API; empty for the core group.
        version: that is read, unless the cluster's CRD serves only others.
        plural: in the API's paths.
        keep: dotted paths of the fields that are kept beside parts of its metadata; a list on the
            way is walked through. A last key with dots stands in brackets.
        only: namespace and name of the only object that is read; None to read all of them.
        compared: dotted paths of the fields that `drift` compares with those of the tree; they are
            kept too. No list is on the way.
        is_open: whether controllers and other people add fields and members below these paths;
            then only what the tree states is compared.
        of_tree: whether only the objects in namespaces of the tree are kept.
        within: the only namespace that is read; empty for all of them.
        digested: dotted paths of texts of which only a digest is kept.
    """

    group: str
    version: str
    plural: str
    kind: str
    keep: tuple[str, ...] = ()
    only: tuple[str, str] | None = None
    compared: tuple[str, ...] = ()
    is_open: bool = False
    of_tree: bool = False
    within: str = ""
    digested: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its name in RBAC and for `kubectl`, e.g. ``clusterqueues.kueue.x-k8s.io``."""
        return f"{self.plural}.{self.group}".rstrip(".")

    @property
    def display(self) -> str:
        """Its name for messages; of a single object with where it is."""
        if self.within:
            return f"{self.name} in {self.within}"
        return self.name if self.only is None else f"{self.name} {'/'.join(self.only)}"

    def path(self, version: str = "") -> str:
        """Return the path of the API that lists it, or reads the only object.

        Args:
            version: that the cluster serves; `version` by default.
        """
        wanted = version or self.version
        root = f"/apis/{self.group}/{wanted}" if self.group else f"/api/{wanted}"
        if self.within:
            return f"{root}/namespaces/{self.within}/{self.plural}"
        if self.only is None:
            return f"{root}/{self.plural}"
        namespace, name = self.only
        return f"{root}/namespaces/{namespace}/{self.plural}/{name}"

    def has(self, body: Body) -> bool:
        """Return whether an object is of this kind, in any version of its API."""
        group = text(body, "apiVersion").rpartition("/")[0]
        if (group, body.get("kind")) != (self.group, self.kind):
            return False
        if self.within:
            return place_of(body)[0] == self.within
        return self.only is None or self.only == place_of(body)


class Scope(NamedTuple):
    """What of a cluster is kept.

    Args:
        groups: whose CRDs are kept.
        namespaces: of the tree.
    """

    groups: frozenset[str]
    namespaces: frozenset[str]


@dataclass(frozen=True, slots=True)
class Unread:
    """A kind of object that could not be read.

    Args:
        resource: its name.
        reason: in words, e.g. ``forbidden``.
    """

    resource: str
    reason: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What was read of a cluster.

    Args:
        cluster: name of its profile.
        server: address that was asked; empty for a dump.
        kubernetes: version of the API server, e.g. ``1.34.4``; empty where it is not known.
        unread: what could not be read, by name. What the cluster does not serve was read: it has
            no object of it.
        objects: by apiVersion, kind, namespace and name.
        table: digest of the table of what is read: another one kept other fields.
        skipped: why files of a dump could not be read.
    """

    cluster: str
    server: str
    kubernetes: str
    unread: tuple[Unread, ...]
    objects: tuple[Body, ...]
    table: str = ""
    skipped: tuple[str, ...] = ()

    def of(self, resource: Resource) -> list[Body]:
        """Return the objects of a kind."""
        return [body for body in self.objects if resource.has(body)]

    def without(self, resources: Iterable[Resource]) -> list[tuple[Resource, str]]:
        """Return those kinds that could not be read, with the reason."""
        reasons = {each.resource: each.reason for each in self.unread}
        return [(each, reasons[each.display]) for each in resources if each.display in reasons]


def place_of(body: Body) -> tuple[str, str]:
    """Return the namespace and name of an object."""
    return text(body, "metadata", "namespace"), text(body, "metadata", "name")


def digest(value: str) -> str:
    """Return what a text is compared by: of an address of Git without account and ending."""
    if not value or _DIGEST.fullmatch(value):
        return value
    plain = _ACCOUNT.sub("//", value).rstrip("/").removesuffix(".git").lower()
    return f"sha256:{sha256(plain.encode()).hexdigest()}"


def labels_of(body: Body) -> Mapping[str, str]:
    """Return the labels of an object."""
    labels = (body.get("metadata") or {}).get("labels")
    return labels if isinstance(labels, dict) else {}


def condition(body: Body, kind: str) -> Mapping[str, Any]:
    """Return a condition of an object's status; empty without it."""
    conditions = (body.get("status") or {}).get("conditions") or ()
    return next((each for each in conditions if each.get("type") == kind), {})


def served_by(crd: Body) -> Iterator[tuple[str, str, str]]:
    """Yield group, kind and version of each version that a CRD serves, in its order."""
    group, kind = text(crd, "spec", "group"), text(crd, "spec", "names", "kind")
    for version in mappings(crd, "spec", "versions"):
        if version.get("served") is True:
            yield group, kind, text(version, "name")


def named(bodies: Collection[Body]) -> dict[str, Body]:
    """Return objects by their names."""
    return {place_of(body)[1]: body for body in bodies}
