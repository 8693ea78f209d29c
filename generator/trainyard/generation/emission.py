"""Write the files of a cluster as bytes: objects, kustomizations, pages and the lockfile."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from trainyard import __version__
from trainyard.model import names
from trainyard.model.holding import Given, remembered
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Platform, Site
from trainyard.render.alerts.runbooks import runbooks
from trainyard.render.team_pages import team_pages
from trainyard.render.unit import (
    alert_routes,
    evidence_page,
    health_checks,
    job_states,
    kustomizations,
    node_limits,
    readme,
)
from trainyard.render.user_pages import user_pages
from trainyard.tree.lockfile import LOCKFILE, lock_bytes, make_lock, parse_lock
from trainyard.tree.tree import Tree, lockfile_of
from trainyard.yaml_io.emitter import emit

_LIMITS = f"platform/configmap-{names.job_limits('')}"
_LIMIT_OF_RUNTIME = re.compile(rb"(\n  [a-zA-Z]+\.)")
"""Begin of a line such as ``maxNodes.openmpi-v1-dgx-h100``, in the ConfigMap's data."""

_Document = tuple[Any, tuple[str, ...]]
"""A body, and the profiles that it was made from."""


def given_numbers(platform: Platform, site: Site, tree: Tree | None) -> Given:
    """Return the numbers and user ids ever given on a cluster.

    Args:
        platform: its ledger has the current ones.
        site: the cluster.
        tree: the committed one, whose lockfile remembers earlier ones; None for no tree.

    Raises:
        TreeError: the lockfile can't be read.
    """
    lock = tree.lock(site.name) if tree else None
    holdings = remembered(lock.holdings if lock else (), platform.holdings(site))
    return holdings, remembered(lock.ids if lock else (), platform.ids.get(site.name, ()))


def emit_site(
    site: Site,
    manifests: tuple[Manifest, ...],
    components_root: str,
    given: Given = ((), ()),
) -> dict[str, bytes]:
    """Return the files of a cluster by path below its folder, the lockfile last.

    Args:
        site: the cluster.
        manifests: its rendered objects.
        components_root: path of the hand-written components relative to the tree.
        given: numbers that the lockfile must remember.
    """
    documents = _documents(site, manifests, components_root)
    files: dict[str, bytes] = {}
    origins: dict[str, tuple[str, ...]] = {}
    for path, (body, profiles) in documents.items():
        files[path] = _spaced(path, emit(body, _header(profiles)))
        origins[path] = profiles
    for path, text in _texts(site, manifests).items():
        files[path], origins[path] = text.encode(), site.cluster.files
    for path, tenant, text in team_pages(site):
        files[path], origins[path] = text.encode(), tenant.files
    release = site.cluster.release.identity
    lock = make_lock(files, origins, tool=__version__, release=release, given=given)
    return {**files, LOCKFILE: lock_bytes(lock)}


def tombstones(retired: Iterable[str], tree: Tree | None) -> Iterator[tuple[str, bytes]]:
    """Yield the lockfile of each retired cluster with its path: it lists no file any more.

    It remembers the numbers, which are the teams' if the cluster comes back.

    Args:
        retired: names of clusters.
        tree: the committed one; a cluster that it does not have gets no lockfile. None for no tree.

    Raises:
        TreeError: a lockfile can't be read.
    """
    for cluster in sorted(retired):
        if tree and (lock := tree.lock(cluster)):
            yield lockfile_of(cluster), lock_bytes(replace(lock, tool=__version__, files={}))


def lockfiles_over(
    tree: Tree, platform: Platform, files: Mapping[str, bytes], clusters: Collection[str]
) -> Iterator[tuple[str, bytes]]:
    """Yield the generated lockfiles as `generate` writes them over those of another tree.

    They remember its numbers too, which may have been given and taken back before a merge.

    Args:
        tree: the other one.
        platform: that the files were made from.
        files: generated, by path below the tree.
        clusters: names of those that were generated.
    """
    for site in platform.sites:
        if site.name in clusters and tree.readable_lock(site.name):
            path = lockfile_of(site.name)
            lock = parse_lock(files[path], tree.place(path))
            holdings, ids = given_numbers(platform, site, tree)
            again = replace(lock, holdings=tuple(sorted(holdings)), ids=tuple(sorted(ids)))
            yield path, files[path] if again == lock else lock_bytes(again)
    yield from tombstones(set(platform.retired).intersection(clusters), tree)


def _documents(
    site: Site, manifests: tuple[Manifest, ...], components_root: str
) -> dict[str, _Document]:
    """Return the YAML documents of a cluster by path."""
    documents: dict[str, _Document] = {}
    for manifest in manifests:
        documents[manifest.path] = (manifest.body, manifest.files)
    tenants = site.units
    for folder, body in kustomizations(site, manifests, components_root).items():
        origin = tenants.get(folder, site.cluster)
        documents[f"{folder}/kustomization.yaml"] = (body, origin.files)
    fragment, checks = health_checks(site)
    for name, body in {fragment: checks, **alert_routes(site), **job_states(site)}.items():
        documents[f"{name}.yaml"] = (body, site.cluster.files)
    return documents


def _texts(site: Site, manifests: tuple[Manifest, ...]) -> dict[str, str]:
    """Return the other files of a cluster by path."""
    return {
        "README.md": readme(site),
        **node_limits(site),
        **evidence_page(site, manifests),
        **runbooks(site),
        **user_pages(),
        ".gitattributes": (
            f"# {_origin(site.cluster.files)}\n* text eol=lf linguist-generated=true\n"
        ),
    }


def _spaced(path: str, document: bytes) -> bytes:
    """Return a document with a blank line before what different pull requests change.

    Git merges two changes of a file only if an unchanged line lies between them: two names in the
    lists of a kustomization, or the limits of two runtimes.
    """
    if path.endswith("/kustomization.yaml"):
        return document.replace(b"\n- ", b"\n\n- ")
    if path.startswith(_LIMITS):
        return _LIMIT_OF_RUNTIME.sub(rb"\n\1", document)
    return document


def _header(files: tuple[str, ...]) -> str:
    return f"{_origin(files)}\nDo not edit: change the profiles and run `trainyard generate`."


def _origin(files: tuple[str, ...]) -> str:
    return f"Generated by Trainyard from {', '.join(files)}."
