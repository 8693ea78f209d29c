"""Draft the profiles of a cluster that runs, from a dump; write them where there are none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trainyard.adoption.draft import Request, choices_in, draft
from trainyard.adoption.model import Adoption, Choice, in_order
from trainyard.adoption.untold import untold
from trainyard.diagnostics import Diagnostic, TreeError
from trainyard.facts.collect import of_dump
from trainyard.handed_in import dumps_in, members
from trainyard.model.facts import Scope
from trainyard.model.importable import IMPORTED
from trainyard.model.lookup import text
from trainyard.model.readable import TABLE
from trainyard.profiles.discover import check_name
from trainyard.profiles.read import load, shipped_only
from trainyard.scaffold.install import put
from trainyard.scaffold.template import static_files
from trainyard.workflows.facts import kueue_of

_ALL = Scope(frozenset(resource.group for resource in TABLE), frozenset())


@dataclass(frozen=True, slots=True)
class Adopted:
    """The result of an import.

    Args:
        problems: why nothing is drafted.
        adoption: None where nothing is drafted, also since the cluster's profile is there.
        open: choices in the profiles that are there.
    """

    problems: tuple[Diagnostic, ...] = ()
    adoption: Adoption | None = None
    open: tuple[Choice, ...] = ()


def adopt(root: Path, cluster: str, release: str, paths: Sequence[Path]) -> Adopted:
    """Return the drafts of a cluster; none where its profile is there already.

    Args:
        root: the profiles; it may not exist.
        cluster: name of the profile that is wanted.
        release: that the cluster runs; empty where somebody chooses it later.
        paths: dumps, and folders of them.

    Raises:
        TreeError: a file can't be read, is not a dump, or the dump is of two clusters.
        ToolError: a preset or release is not as it was shipped.
    """
    file = f"profiles/clusters/{cluster}.yaml"
    if problem := check_name(cluster, file):
        return Adopted((problem,))
    if (root / "clusters" / f"{cluster}.yaml").exists():
        return Adopted(open=tuple(choices_in(_present(root))))
    bodies, skipped = _bodies(paths)
    facts = of_dump(bodies, cluster, _ALL, IMPORTED)
    profiles = load(root)[0] if root.is_dir() else shipped_only()
    settings = static_files()["profiles/trainyard.yaml"]
    has_settings = (root / "trainyard.yaml").exists()
    request = Request(
        cluster=cluster,
        release=release,
        profiles=profiles,
        kueue=kueue_of(facts),
        settings=b"" if has_settings else settings,
        unread=tuple(skipped),
    )
    drafted = draft(request, facts)
    remarks = (*drafted.remarks, *untold(drafted, bodies))
    return Adopted(adoption=replace(drafted, remarks=in_order(remarks)))


def write_drafts(root: Path, files: Mapping[str, bytes]) -> tuple[Path, ...]:
    """Write files beside and below the profiles, all or none; return their paths.

    Args:
        root: the profiles.
        files: content by path below the folder that has the profiles.

    Raises:
        TreeError: one is there already, or can't be written; nothing is changed.
    """
    folder = root.parent
    new: Iterable[str] = files
    if not root.exists():
        new = ["profiles", *(path for path in files if not path.startswith("profiles/"))]
    put(folder, files, new)
    return tuple(folder / path for path in files)


def _present(root: Path) -> dict[str, bytes]:
    """Return the profiles that are there, as they are read."""
    profiles, _ = load(root)
    return {path: source.content for path, source in profiles.sources().items()}


def _bodies(paths: Sequence[Path]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the objects of dumps, and why a file has nothing.

    Raises:
        TreeError: a file that is named is not a dump, or they are of two clusters.
    """
    found, skipped = dumps_in(paths)
    bodies = [body for name, documents in found for _, body in members(name, documents)]
    _need_one_cluster(bodies)
    return bodies, skipped


def _need_one_cluster(bodies: Iterable[Mapping[str, Any]]) -> None:
    """Refuse dumps of two clusters: a cluster's namespace `kube-system` has one uid.

    Raises:
        TreeError: there are two.
    """
    uids = {
        text(body, "metadata", "uid")
        for body in bodies
        if body.get("kind") == "Namespace" and text(body, "metadata", "name") == "kube-system"
    }
    if len(uids - {""}) > 1:
        raise TreeError("the dump is of two clusters: its namespaces kube-system have two uids")
