"""The committed tree against a fresh generation: what is stale, what would vanish, and what jobs would not survive."""

from __future__ import annotations

import os
import re
import shlex
import string
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from trainyard.diagnostics import Diagnostic, Note, Pointer, Rule, Severity, TreeError
from trainyard.history.check import check_replacement
from trainyard.history.replacement import Replacement, identity
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.model.quantity import counted
from trainyard.output.compare import Comparison, compare, reading, top
from trainyard.output.lockfile import LOCKFILE, Lock, LockedFile, digest, read_lock
from trainyard.schema.manifests import check_committed
from trainyard.workflows.generate import Generation
from trainyard.yaml_io.manifests import parse_manifests

TREE_IS_STALE = Rule(
    id="delivery/tree-is-stale",
    severity=Severity.ERROR,
    summary="The committed tree is, byte for byte, what its profiles say.",
    why="""
        Argo CD syncs what is committed (seen with Argo CD 3.5.7): the cluster gets something else
        than the profiles that were reviewed.
    """,
    fix="Run `trainyard generate` and commit what it writes; never edit the tree by hand.",
)
FOREIGN_FILE = Rule(
    id="delivery/foreign-file",
    severity=Severity.ERROR,
    summary="The folder of a cluster holds only files that Trainyard generates.",
    why="""
        Argo CD does not apply a file that no kustomization lists (seen with Argo CD 3.5.7), and
        `trainyard generate` does not delete it. In review it looks like part of the platform.
    """,
    fix="Remove it with `git rm`, or move it out of the cluster's folder.",
)
PROFILE_VANISHED = Rule(
    id="delivery/profile-vanished",
    severity=Severity.ERROR,
    summary="""
        A profile that the tree was made from is still there, or a tombstone stands in its place.
    """,
    why="""
        The platform's unit prunes what it had of it: a queue takes no more jobs and stays behind
        those that run (`Can't admit new workloads; clusterQueue is terminating`, seen with Kueue
        0.19.2), a runtime is missing (`specified clusterTrainingRuntime must be created before the
        TrainJob is created`, seen with Trainer 2.3.0). A team's own unit stays on the cluster, its
        roles too, and nobody watches over it.
    """,
    fix="Restore the file from Git.",
)
UNIT_VANISHED = Rule(
    id="delivery/unit-vanished",
    severity=Severity.ERROR,
    summary="A team leaves a cluster by a tombstone, not by its quota there going away.",
    why="""
        Argo CD leaves everything of the unit on the cluster, roles too, and heals nothing any more
        (`ComparisonError ... app path does not exist`, seen with Argo CD 3.5.7); the team's queue,
        in the platform's unit, goes: `Can't admit new workloads; clusterQueue is terminating` (seen
        with Kueue 0.19.2).
    """,
    fix="Give the quota back; to end the team, set `state: draining`, then `state: retired`.",
)
RULES = (TREE_IS_STALE, FOREIGN_FILE, PROFILE_VANISHED, UNIT_VANISHED)

_FIXES = {
    "teams": "Restore it. To end the team, merge `state: draining`, then `state: retired`: its "
    "numbers stay taken.",
    "clusters": "Restore it; to give the cluster up, remove its folder of the tree in the same "
    "change.",
    "runtimes": "Restore it; take it out of every team's `runtimes`, merge, and remove it when its "
    "jobs have ended.",
}
_OURS = frozenset({"argocd", "platform"})
"""Folders of each cluster's tree."""
_NAMED = 10
"""How many paths one command names."""

_PATTERN = re.compile(r"[*?\[\\]")
_PLAIN = string.ascii_letters + string.digits + "/._-"
_PROFILE = re.compile(r"profiles/(clusters|hardware|runtimes|teams)/[^/]+\.yaml")


def check_fresh(target: Path, generation: Generation) -> Iterator[Diagnostic]:
    """Yield, for each folder of the tree, the files that the next run would write or delete, and those it would keep.

    Args:
        target: the tree; its files are shown below ``overlays/`` whatever it is called.
        generation: without errors.

    Raises:
        TreeError: the tree can't be read.
    """
    comparison = compare(target, generation.files)
    differences = {
        "missing": comparison.missing,
        "edited": comparison.changed,
        "extra": comparison.deleted,
    }
    found = (
        (*path.rpartition("/")[::2], what) for what, paths in differences.items() for path in paths
    )
    for folder, group in groupby(sorted(found), key=itemgetter(0)):
        files = [(name, what) for _, name, what in group]
        counts = Counter(what for _, what in files)
        message = (
            f"{folder}: "
            f"{', '.join(f'{counts[what]} {what}' for what in differences if counts[what])}"
        )
        at = Pointer(f"overlays/{folder}")
        notes = [Note(what, Pointer(f"{at.file}/{name}")) for name, what in files]
        yield TREE_IS_STALE.at(at, message, notes=notes)
    yield from _foreign(target, comparison, {*generation.files, *comparison.deleted})


def _foreign(target: Path, comparison: Comparison, ours: Iterable[str]) -> Iterator[Diagnostic]:
    """Yield one finding for each folder of ours that holds other files, and for each folder of others as a whole."""
    folders = {path[:end] for path in ours for end, letter in enumerate(path) if letter == "/"}
    told = dict.fromkeys(comparison.foreign, "not generated by Trainyard")
    told |= dict.fromkeys(
        comparison.kept, "generated once, then edited by hand; no profile makes it any more"
    )
    entries = ((_outermost(path, folders), path) for path in sorted(told))
    found = sorted(
        (entry.rpartition("/")[0] if entry == path else entry, path, entry)
        for entry, path in entries
    )
    for folder, group in groupby(found, key=itemgetter(0)):
        members = [(path, entry) for _, path, entry in group]
        at = Pointer(_printed(f"overlays/{folder}".rstrip("/")))
        count = "1 file" if len(members) == 1 else f"{len(members)} files"
        message = f"{_printed(folder) or at.file}: {count} that Trainyard does not generate"
        notes = [Note(told[path], Pointer(_printed(f"overlays/{path}"))) for path, _ in members]
        yield FOREIGN_FILE.at(
            at, message, hint=_removal(target, {entry for _, entry in members}), notes=notes
        )


def _outermost(path: str, folders: Collection[str]) -> str:
    """Return the file, or the outermost folder around it that holds nothing of ours."""
    ends = (end for end, letter in enumerate(path) if letter == "/")
    return next((path[:end] for end in ends if path[:end] not in folders), path)


def _removal(target: Path, entries: Collection[str]) -> str:
    named = " ".join(_quoted((target / entry).as_posix()) for entry in sorted(entries)[:_NAMED])
    rest = f", then the other {len(entries) - _NAMED}" if len(entries) > _NAMED else ""
    return f"Run `git rm -r {named}`{rest}; for what is not in Git, use `rm -r` instead."


def _quoted(path: str) -> str:
    """Return a path as Git and a shell take it: no pattern, and in ASCII when it can't be printed."""
    path = f":(literal){path}" if _PATTERN.search(path) else path
    if path.isprintable():
        return shlex.quote(path)
    return (
        "$'"
        + "".join(
            chr(byte) if chr(byte) in _PLAIN else f"\\x{byte:02x}" for byte in os.fsencode(path)
        )
        + "'"
    )


def _printed(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def check_replaced(
    target: Path, generation: Generation, clusters: Iterable[str] = ()
) -> Iterator[Diagnostic]:
    """Yield what would leave the tree though no profile says so, and what the cluster would not survive unharmed.

    Args:
        target: the tree.
        generation: without errors.
        clusters: names of the only ones wanted; all when empty.

    Raises:
        TreeError: the tree can't be read, holds what Trainyard did not write, or lost a lockfile.
    """
    platform = generation.checked.platform
    assert platform is not None
    sites = {site.name: site for site in platform.sites}
    wanted = frozenset(clusters)
    _require_locks(target, generation)
    retired = frozenset(team.name for team in platform.teams if team.state == "retired")
    for cluster, lock in locks(target):
        if cluster not in sites and not wanted:
            at = Pointer(f"profiles/clusters/{cluster}.yaml")
            message = (
                f"cluster `{cluster}` has no profile any more, but "
                f"{counted(len(lock.files), 'file')} in the tree"
            )
            yield PROFILE_VANISHED.at(at, message, hint=_FIXES["clusters"])
        elif cluster in sites and (not wanted or cluster in wanted):
            yield from _check_vanished(sites[cluster], lock, generation, retired)
            yield from check_replacement(
                _replacement(target / cluster, lock, generation, sites[cluster])
            )


def _require_locks(target: Path, generation: Generation) -> None:
    """Refuse a tree that lost a lockfile: the numbers of former teams could be given away.

    Raises:
        TreeError: a folder has generated files and no lockfile.
    """
    for cluster in generation.manifests:
        folder = target / cluster
        with reading(target):
            present = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
        if LOCKFILE not in present and not present.isdisjoint(_OURS):
            raise TreeError(
                f"{folder} has generated files and no {LOCKFILE}, so nobody knows which numbers "
                f"were ever given; restore {folder / LOCKFILE} from Git, or remove the folder if "
                "it was never merged"
            )


def locks(target: Path) -> Iterator[tuple[str, Lock]]:
    """Yield the lock of each folder of the tree that has one, by the name of its cluster.

    Raises:
        TreeError: the tree or a lockfile can't be read.
    """
    with reading(target):
        folders = [target / entry.name for entry in top(target) if entry.is_dir()]
    for folder in folders:
        lock = read_lock(folder) if (folder / LOCKFILE).exists() else None
        if lock is not None:
            yield folder.name, lock


def _check_vanished(
    site: Site, lock: Lock, generation: Generation, retired: frozenset[str]
) -> Iterator[Diagnostic]:
    known = generation.checked.profiles.sources()
    leaving = {
        path: entry
        for path, entry in lock.files.items()
        if f"{site.name}/{path}" not in generation.files
    }
    gone = Counter(
        file
        for entry in leaving.values()
        for file in entry.origins
        if _PROFILE.fullmatch(file) and file not in known
    )
    for file, count in sorted(gone.items()):
        message = (
            f"the profile is gone, and {counted(count, 'file')} of cluster `{site.name}` with it"
        )
        yield PROFILE_VANISHED.at(Pointer(file), message, hint=_FIXES.get(file.split("/")[1], ""))
    left = {path.split("/")[1] for path in leaving if path.startswith("teams/")}
    for team in sorted(left - {tenant.name for tenant in site.tenants} - retired):
        file = f"profiles/teams/{team}.yaml"
        if file in known:
            message = (
                f"team `{team}` has no quota on cluster `{site.name}` any more, but still "
                "its sync unit there"
            )
            yield UNIT_VANISHED.at(Pointer(file) / "quota", message)


def _replacement(folder: Path, lock: Lock, generation: Generation, site: Site) -> Replacement:
    platform = generation.checked.platform
    assert platform is not None
    before, after = [], []
    new = {manifest.path: manifest for manifest in generation.manifests[site.name]}
    for path in sorted({*lock.files, *new}):
        content, entry = generation.files.get(f"{site.name}/{path}"), lock.files.get(path)
        if path in new and content is not None and entry and digest(content) == entry.sha256:
            # Equal bytes are equal objects: reading them all back would take as long as the rest of
            # the run.
            before.append(new[path])
            after.append(new[path])
            continue
        if entry:
            before += _read(folder, path, entry)
        if path in new and content is not None:
            (body,) = _objects(content.decode())
            after.append(replace(new[path], body=body))
    old, current = ({identity(each): each for each in manifests} for manifests in (before, after))
    return Replacement(platform, site, lock.tool, old, current, lock.holdings, lock.ids)


def _read(folder: Path, path: str, entry: LockedFile) -> list[Manifest]:
    """Return the objects of a committed file; none of a file that is gone or no manifest.

    Raises:
        TreeError: the file can't be read, or holds what can't be compared.
    """
    file = folder / path
    at = Pointer(f"overlays/{folder.name}/{path}")
    with reading(file):
        if file.suffix != ".yaml" or not file.is_file():
            return []
        content = file.read_bytes()
    try:
        bodies = _objects(content.decode())
        if (
            digest(content) != entry.sha256
        ):  # what a person wrote over our file need not be an object
            bodies = [body for body in bodies if isinstance(body, dict)]
        fault = next(filter(None, map(check_committed, bodies)), "")
    except ValueError as error:
        bodies, fault = [], str(error)
    if fault:
        raise TreeError(
            f"{file} is broken ({fault}); take either side of it from Git, then generate again"
        )
    return [Manifest(path, body, entry.origins, at) for body in bodies]


def _objects(text: str) -> list[Any]:
    """Return the documents of a text without fragments for other programs, which have neither version nor kind."""
    keys = {"apiVersion", "kind"}
    return [
        each
        for each in parse_manifests(text)
        if not (isinstance(each, dict) and keys.isdisjoint(each))
    ]
