"""Collect the facts of a cluster: every kind of the table, page by page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from trainyard.diagnostics import TreeError
from trainyard.facts.kubectl import NOT_SERVED, Answer
from trainyard.facts.strip import stripped
from trainyard.model.facts import Body, Facts, Resource, Scope, Unread, place_of, served_by
from trainyard.model.lookup import mapping, mappings, text
from trainyard.model.readable import CRDS, DIGEST, TABLE, by_kind, resource_of

Get = Callable[[str], Answer]
"""Takes a path, and returns the answer to it."""

_PAGE, _CRDS = 500, 100
"""Objects of one answer, and CRDs: 100 of them have some 20 MB."""
_MOST_PAGES = 1000
_VERSION = re.compile(r"v[0-9]+((alpha|beta)[0-9]+)?", re.ASCII)
_KUBERNETES = re.compile(r"v?([0-9]+\.[0-9]+(\.[0-9]+)?)", re.ASCII)
_TOKEN = re.compile(r"[A-Za-z0-9_=-]+", re.ASCII)
"""base64 without `+` and `/` (apiserver:pkg/storage/continue.go@v1.36.3)."""
_REASONS = {"Forbidden": "forbidden"}
_NOT_IN_DUMP = "none is in the dump"


def collect(get: Get, names: tuple[str, str], scope: Scope) -> Facts:
    """Return the facts of a cluster.

    Args:
        get: asks its API server.
        names: of the cluster, and the address of its API server.
        scope: what is kept.

    Raises:
        TreeError: the API server does not answer as one does.
        ToolError: as `get`.
    """
    cluster, server = names
    release = text(get("/version").body, "gitVersion")
    unread: list[Unread] = []
    found: list[Body] = []
    for resource in TABLE:
        bodies, refusal = _listed(get, resource, _served(resource, found))
        if refusal:
            reason = _REASONS.get(refusal, f"the API server answers `{refusal}`")
            unread.append(Unread(resource.display, reason))
        found += (stripped(resource, body) for body in bodies if _wanted(resource, body, scope))
    kubernetes = _KUBERNETES.match(release)
    version = kubernetes[1] if kubernetes else ""
    return Facts(cluster, server, version, *_ordered(unread, found), DIGEST)


def of_dump(
    bodies: Iterable[Body], cluster: str, scope: Scope, table: Sequence[Resource] = TABLE
) -> Facts:
    """Return the facts that are in a dump; what is not in it, is not known.

    Args:
        bodies: objects of any kind; those that are not in the table are dropped unread.
        cluster: its name.
        scope: what is kept.
        table: the kinds that are read.

    Raises:
        TreeError: an object is there twice, with another content.
    """
    found: dict[tuple[str, str, str], Body] = {}
    seen: set[str] = set()
    kinds = by_kind(table)
    for body in bodies:
        resource = resource_of(body, kinds)
        if resource is None:
            continue
        seen.add(resource.display)
        if _wanted(resource, body, scope):
            kept, key = stripped(resource, body), (resource.display, *place_of(body))
            if found.setdefault(key, kept) != kept:
                raise TreeError(f"{' '.join(filter(None, key))} is handed in twice, and differs")
    unread = [Unread(each.display, _NOT_IN_DUMP) for each in table if each.display not in seen]
    return Facts(cluster, "", "", *_ordered(unread, list(found.values())), DIGEST)


def _ordered(
    unread: list[Unread], found: list[Body]
) -> tuple[tuple[Unread, ...], tuple[Body, ...]]:
    return (
        tuple(sorted(unread, key=lambda each: each.resource)),
        tuple(sorted(found, key=_order)),
    )


def _order(body: Body) -> tuple[str, ...]:
    return text(body, "apiVersion"), text(body, "kind"), *place_of(body)


def _wanted(resource: Resource, body: Body, scope: Scope) -> bool:
    """Return whether an object is kept: a CRD of the tree's kinds, or an object of its teams."""
    if resource.of_tree:
        return place_of(body)[0] in scope.namespaces
    return resource is not CRDS or text(body, "spec", "group") in scope.groups


def _served(resource: Resource, found: Iterable[Body]) -> str:
    """Return the version of a kind to ask for: the table's, or else the first that is served."""
    kind = resource.group, resource.kind
    served = (each for crd in found if CRDS.has(crd) for each in served_by(crd))
    usable = [version for *of, version in served if (*of,) == kind and _VERSION.fullmatch(version)]
    if resource.version in usable:
        return resource.version
    return next(iter(usable), resource.version)


def _listed(get: Get, resource: Resource, version: str) -> tuple[list[Body], str]:
    """Return the objects of a kind, and why they can't be read; empty when they can."""
    path = resource.path(version)
    typed = {"apiVersion": f"{resource.group}/{version}".lstrip("/"), "kind": resource.kind}
    bodies: list[Body] = []
    for answer in _answers(get, resource, path):
        if answer.refusal == NOT_SERVED:
            return [], ""
        if answer.refusal:
            return [], answer.refusal
        # Items of a list have no kind, but for those of CRDs.
        items = [answer.body] if resource.only else mappings(answer.body, "items")
        bodies += ({**body, **typed} for body in items)
    return bodies, ""


def _answers(get: Get, resource: Resource, path: str) -> Iterator[Answer]:
    """Yield the pages of a list, or the only object.

    Raises:
        TreeError: the list does not end.
    """
    if resource.only:
        yield get(path)
        return
    page, token = (_CRDS if resource is CRDS else _PAGE), ""
    for _ in range(_MOST_PAGES):
        answer = get(f"{path}?limit={page}{token}")
        yield answer
        rest = str(mapping(answer.body, "metadata").get("continue") or "")
        if not rest:
            return
        if not _TOKEN.fullmatch(rest):
            raise TreeError(f"the list of {resource.name} has a mark of its next page with signs")
        token = f"&continue={rest}"
    raise TreeError(f"the list of {resource.name} has more than {page * _MOST_PAGES:,} objects")
