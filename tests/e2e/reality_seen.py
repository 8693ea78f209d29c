"""What a control plane shows: its objects, who may do what, and which paths are open."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from tests.change.impact.paths import HERE, Path, is_open
from tests.e2e.access import is_allowed
from tests.e2e.reality_said import Held, Object
from trainyard.change.impact.policies import EGRESS, INGRESS, NAME
from trainyard.model import names
from trainyard_rehearsal.control_plane.api import Api, Body

_NOT_OURS = re.compile(
    r"argocd\.argoproj\.io/(?:refresh|application-set-refresh)|pv\.kubernetes\.io/.*"
    r"|volume\.kubernetes\.io/.*|volume\.beta\.kubernetes\.io/.*|kubernetes\.io/metadata\.name"
)
"""Labels and annotations that others write."""
_NO_CONTENT = ("metadata", "status", "apiVersion", "kind", "operation")
_RAIL = re.compile(r"(?P<fabric>.+)-rail-(?P<rail>\d+)")

Segment = tuple[str, str, str, int]


@dataclass(frozen=True, slots=True)
class Seen:
    """An object on the server: its id, what others do not write, and whether it is going."""

    uid: str
    content: str
    body: Body


def objects(api: Api, kinds: Iterable[tuple[str, str]]) -> dict[Object, Seen]:
    """Return every object of some kinds."""
    found = {}
    for version, kind in kinds:
        for body in api.list(version, kind):
            metadata = body["metadata"]
            key = (kind, metadata.get("namespace", ""), metadata["name"])
            if "deletionTimestamp" not in metadata:
                found[key] = Seen(metadata["uid"], _content(body), body)
    return found


def _content(body: Body) -> str:
    metadata = body["metadata"]
    known: dict[str, Any] = {key: body[key] for key in body if key not in _NO_CONTENT}
    for part in ("labels", "annotations"):
        every = metadata.get(part, {})
        known[part] = {key: every[key] for key in every if not _NOT_OURS.fullmatch(key)}
    return json.dumps(known, sort_keys=True)


def fates(
    before: Mapping[Object, Seen], after: Mapping[Object, Seen], ours: Iterable[Object]
) -> dict[Object, str]:
    """Return what became of each object that a tree has, or had."""
    found = {}
    for key in ours:
        old, new = before.get(key), after.get(key)
        if old and not new:
            found[key] = "deleted"
        elif new and not old:
            found[key] = "created"
        elif old and new and old.uid != new.uid:
            found[key] = "recreated"
        elif old and new and old.content != new.content:
            found[key] = "changed"
    return found


def policies(seen: Mapping[Object, Seen]) -> dict[str, list[Body]]:
    """Return the ``spec`` of the NetworkPolicies of each namespace."""
    found: dict[str, list[Body]] = {}
    for (kind, namespace, name), each in seen.items():
        if kind == "Namespace":
            found.setdefault(name, [])
        if kind == "NetworkPolicy":
            found.setdefault(namespace, []).append(each.body["spec"])
    return found


def segments(seen: Mapping[Object, Seen]) -> set[Segment]:
    """Return the rails that each namespace is attached to."""
    found = set()
    for (kind, namespace, name), each in seen.items():
        match = _RAIL.fullmatch(name)
        if kind == "NetworkAttachmentDefinition" and match:
            config = json.loads(each.body["spec"]["config"])
            segment = f"partition {config['pkey']}"
            found.add((namespace, match["fabric"], segment, int(match["rail"])))
    return found


def paths(spaces: Iterable[str], addresses: Iterable[str], *, mpi: bool) -> Iterator[Path]:
    """Yield paths of a pod from and to pods of some namespaces and some addresses.

    Args:
        spaces: names of namespaces.
        addresses: outside the cluster.
        mpi: whether the pod's namespace has pods of MPIJobs.
    """
    job, of_mpi = {names.JOB_LABEL: "some"}, {names.MPI_JOB_LABEL: "some"}
    pods: list[dict[str, str]] = [job, {}, of_mpi] if mpi else [job, {}]
    peers: list[tuple[dict[str, str] | None, dict[str, str], str]] = [
        (None, {}, address) for address in addresses
    ]
    peers += [({NAME.label: space}, pod, "") for space, pod in product(spaces, pods)]
    numbers = [("TCP", number) for number in (53, 443, 5000, 8443, 9000, 9001, 22)]
    for own, peer, port in product(pods, peers, [*numbers, ("UDP", 53)]):
        yield Path(own, *peer, *port, "")


def open_paths(
    specs: Iterable[Body], namespace: str, every: Iterable[Path]
) -> set[tuple[str, int]]:
    """Return the direction and number of each path that the policies of a namespace let pass."""
    known = list(specs)
    found = set()
    for number, path in enumerate(every):
        near = path.namespace is not None and path.namespace[NAME.label] == namespace
        here = path._replace(namespace={NAME.label: HERE}) if near else path
        for direction in (INGRESS, EGRESS):
            if is_open(known, direction, here):
                found.add((direction, number))
    return found


def may(api: Api, held: Held) -> bool:
    """Return whether the API server lets somebody do something."""
    kind, _, name = held.subject.rpartition(" ")
    user, groups = "anyone", [name]
    if kind == "service account":
        namespace, _, account = name.partition("/")
        user = f"system:serviceaccount:{namespace}:{account}"
        groups = ["system:serviceaccounts", f"system:serviceaccounts:{namespace}"]
    verb, group, resource, of = held.permission
    plural, _, part = resource.partition("/")
    attributes = {"verb": verb, "group": group, "resource": plural, "subresource": part}
    attributes |= {"name": of, "namespace": held.namespace}
    return is_allowed(api, user, groups, attributes)
