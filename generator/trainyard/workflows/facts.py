"""Read the facts of a cluster: of its API server, of dumps, or of a file of facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from trainyard.diagnostics import TreeError
from trainyard.facts.collect import collect, of_dump
from trainyard.facts.kubectl import Kubectl
from trainyard.handed_in import dumps_in, facts_objects, is_facts, objects
from trainyard.model.cluster import OWN_SERVER
from trainyard.model.facts import Body, Facts, Scope, Unread, place_of
from trainyard.model.lookup import mapping, mappings, text, texts
from trainyard.model.platform import Site
from trainyard.model.readable import DIGEST, KUEUE_FILE, TABLE
from trainyard.model.readable_of_others import ARGOCD_FILES
from trainyard.schema.published import VERSION
from trainyard.yaml_io.events import StreamError
from trainyard.yaml_io.manifests import parse_manifests

_KEY = "controller_manager_config.yaml"
_LISTS = ("resource.exclusions", "resource.inclusions")


class OtherClusterError(ValueError):
    """The context, or the file of facts, is of another cluster than the profile."""


def from_context(site: Site, context: str) -> Facts:
    """Return the facts of a cluster that runs.

    Args:
        site: the cluster.
        context: of kubectl's configuration.

    Raises:
        OtherClusterError: its API server has another address than the profile states.
        ToolError: kubectl is missing, or has no such context.
        TreeError: the API server does not answer.
    """
    kubectl = Kubectl(context)
    server = kubectl.server()
    stated = site.cluster.server
    # The profile of Argo CD's own cluster states an address that only its pods can reach.
    if stated != OWN_SERVER and _address(server) != _address(stated):
        raise OtherClusterError(
            f"context `{context}` is of {server}, and the profile of `{site.name}` has {stated}"
        )
    return collect(kubectl.get, (site.name, server), scope_of(site))


def from_files(site: Site, paths: Sequence[Path]) -> Facts:
    """Return the facts in a file that ``trainyard facts`` wrote, or in dumps.

    Args:
        site: the cluster.
        paths: one file of facts; or dumps, and folders of them.

    Raises:
        OtherClusterError: the facts are of another cluster.
        TreeError: a file can't be read, is not a dump, or has facts of another form.
    """
    documents, skipped = dumps_in(paths)
    if len(documents) == 1 and is_facts(documents[0][1][0]):
        name, (document,) = documents[0]
        return _read(site, name, document)
    bodies = [body for name, found in documents for body in _bodies(name, found)]
    return replace(of_dump(bodies, site.name, scope_of(site)), skipped=tuple(skipped))


def kueue_of(facts: Facts) -> Mapping[str, Any]:
    """Return Kueue's configuration in its ConfigMap; empty where it is none that Kueue reads."""
    for body in facts.of(KUEUE_FILE):
        try:
            documents = parse_manifests(text(body, "data", _KEY))
        except StreamError:
            return {}
        return next((each for each in documents if isinstance(each, dict)), {})
    return {}


def argocd_of(facts: Facts, namespace: str) -> Mapping[str, Any]:
    """Return the settings of Argo CD in a namespace, its lists as such."""
    for resource in ARGOCD_FILES:
        for body in facts.of(resource):
            if place_of(body)[0] == namespace:
                data = mapping(dict(body), "data")
                return data | {key: _rules(data, key) for key in _LISTS if key in data}
    return {}


def _rules(data: Body, key: str) -> list[Any]:
    """Return a list that a setting has as YAML; empty for what Argo CD does not read either."""
    try:
        return next((each for each in parse_manifests(text(data, key)) if each), [])
    except StreamError:
        return []


def _bodies(name: str, documents: Iterable[Any]) -> Iterator[Body]:
    """Yield the objects of a dump.

    Raises:
        TreeError: it is not a dump, or a file of facts beside others.
    """
    for document in documents:
        if is_facts(document):
            raise TreeError(f"{name} has facts of a cluster: hand it in alone")
        yield from (body for _, body in objects(name, [document]))


def _read(site: Site, name: str, document: Body) -> Facts:
    """Return the facts of a file.

    Raises:
        OtherClusterError: they are of another cluster.
        TreeError: they have another form.
    """
    if document.get("version") != VERSION:
        raise TreeError(f"{name} has another version of the form: write it anew")
    result = mapping(dict(document), "result")
    cluster = text(result, "cluster")
    if cluster != site.name:
        raise OtherClusterError(f"{name} has facts of cluster `{cluster}`")
    bodies = (body for _, body in objects(name, facts_objects(name, dict(document))))
    found = of_dump(bodies, site.name, scope_of(site)).objects
    unread = _unread(name, result)
    if result.get("table") != DIGEST:
        raise TreeError(f"{name} has the fields that another Trainyard reads: write it anew")
    server, kubernetes = text(result, "server"), text(result, "kubernetes")
    return Facts(cluster, server, kubernetes, unread, found, DIGEST, texts(result, "skipped"))


def _unread(name: str, result: Body) -> tuple[Unread, ...]:
    """Return what a file of facts says could not be read: else it would pass as empty.

    Raises:
        TreeError: it does not say so of kinds that are known.
    """
    rows = mappings(result, "unread")
    complete = {"unread": len(rows), "skipped": len(texts(result, "skipped"))}
    if any(_length(result.get(key)) != known for key, known in complete.items()):
        raise TreeError(f"{name} does not say what could not be read: write it anew")
    unread = tuple(Unread(text(each, "resource"), text(each, "reason")) for each in rows)
    known = {resource.display for resource in TABLE}
    if any(each.resource not in known for each in unread):
        raise TreeError(f"{name} names a kind that this Trainyard does not read: write it anew")
    return unread


def _length(stated: Any) -> int:
    """Return the length of a list; that of nothing else is one."""
    return len(stated) if isinstance(stated, list) else -1


def scope_of(site: Site) -> Scope:
    """Return what is kept of a cluster: CRDs of the kinds that are read or may be in the tree."""
    written = (kind.partition(".")[2] for kind in site.cluster.release.plurals)
    groups = {*written, *(resource.group for resource in TABLE)} - {""}
    of_teams = (tenant.namespaces for tenant in site.tenants)
    namespaces = {site.cluster.system_namespace, *chain.from_iterable(of_teams)}
    return Scope(frozenset(groups), frozenset(namespaces))


def _address(server: str) -> str:
    """Return an address for comparison; a missing port is that of HTTPS."""
    address = server.removeprefix("https://").rstrip("/").lower()
    return address if ":" in address.rpartition("]")[2] else f"{address}:443"
