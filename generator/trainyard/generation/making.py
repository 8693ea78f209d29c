"""Make the tree of each cluster, or recall it: it was made from the same inputs before."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from trainyard.diagnostics import Diagnostic
from trainyard.generation.emission import emit_site, given_numbers
from trainyard.generation.objects import check_tree
from trainyard.model.holding import Given
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Platform, Site
from trainyard.proofs import Proofs, content_of, digest_of, proof
from trainyard.render.site import render_site
from trainyard.side_by_side import side_by_side
from trainyard.tree.disk import DiskTree
from trainyard.tree.lockfile import LOCKFILE
from trainyard.tree.tree import Tree

_TEAMS = 20
"""Teams for which another process is worth its start: a tenth of a second of work."""

Manifests = tuple[Manifest, ...]


class LateManifests(Mapping[str, Manifests]):
    """Manifests of each cluster, which are made when they are asked for.

    Only those that were asked for last are kept: commands go from cluster to cluster.

    Args:
        makers: by cluster.
    """

    def __init__(self, makers: Mapping[str, Callable[[], Manifests]]) -> None:
        self._makers = makers
        self._last: tuple[str, Manifests] = ("", ())

    def __getitem__(self, cluster: str) -> Manifests:
        if cluster != self._last[0] or not cluster:
            self._last = cluster, self._makers[cluster]()
        return self._last[1]

    def __contains__(self, cluster: object) -> bool:
        return cluster in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


@dataclass(frozen=True, slots=True)
class Job:
    """A cluster to make.

    Args:
        components_root: path of the hand-written components relative to the tree.
        given: numbers that its lockfile must remember.
        inputs: digest of all that its objects are made from; empty when nobody asks.
    """

    site: Site
    components_root: str
    given: Given
    inputs: bytes = b""


@dataclass(frozen=True, slots=True)
class MadeSite:
    """The tree of a cluster.

    Args:
        packed: its objects, pickled: they take a tenth of the memory, and few commands read them.
        found: in its objects.
        files: content by path below its folder.
    """

    packed: bytes
    found: tuple[Diagnostic, ...]
    files: dict[str, bytes]

    def manifests(self) -> Manifests:
        """Return its objects."""
        unpacked: Manifests = pickle.loads(self.packed)  # noqa: S301 - of our own process
        return unpacked


def jobs_of(
    platform: Platform,
    components_root: str,
    wanted: Collection[str],
    tree: Tree | None,
    proofs: Proofs,
) -> list[Job]:
    """Return the clusters to make, with the numbers that their lockfiles must remember."""
    jobs = []
    for site in platform.sites:
        if site.name in wanted:
            given = given_numbers(platform, site, tree)
            inputs = digest_of((site, components_root)) if proofs.used else b""
            jobs.append(Job(site, components_root, given, inputs))
    return jobs


def make_all(jobs: Sequence[Job], step: Callable[[int, int], None]) -> list[MadeSite]:
    """Make the trees of some clusters."""
    return _each(_make, jobs, step)


def check_all(jobs: Sequence[Job], step: Callable[[int, int], None]) -> list[MadeSite]:
    """Check the objects of some clusters; the trees that are returned have no files."""
    return _each(_check, jobs, step)


def _each(
    work: Callable[[Job], MadeSite], jobs: Sequence[Job], step: Callable[[int, int], None]
) -> list[MadeSite]:
    teams = sum(len(job.site.tenants) for job in jobs)
    return side_by_side(work, jobs, teams // _TEAMS, step)


def _make(job: Job) -> MadeSite:
    manifests = render_site(job.site, job.components_root)
    files = emit_site(job.site, manifests, job.components_root, job.given)
    found = tuple(check_tree(job.site, manifests))
    return MadeSite(pickle.dumps(manifests, protocol=5), found, files)


def _check(job: Job) -> MadeSite:
    manifests = render_site(job.site, job.components_root)
    return MadeSite(b"", tuple(check_tree(job.site, manifests)), {})


def files_of_all(sites: Mapping[str, Mapping[str, bytes]]) -> dict[str, bytes]:
    """Return the files of clusters by path below the tree, sorted."""
    files: dict[str, bytes] = {}
    for name in sorted(sites):
        for path in sorted(sites[name]):
            files[f"{name}/{path}"] = sites[name][path]
    return files


def manifests_of(job: Job, made: Mapping[str, MadeSite]) -> Callable[[], Manifests]:
    """Return what gives the manifests of a cluster; those of a recalled one are rendered then."""
    site = made.get(job.site.name)
    return site.manifests if site else partial(render_site, job.site, job.components_root)


def recalled(proofs: Proofs, jobs: Iterable[Job], tree: Tree | None) -> dict[str, dict[str, bytes]]:
    """Return the files of the clusters that need not be made, read from their folders.

    Args:
        proofs: of earlier commands.
        jobs: the clusters.
        tree: the one on disk; the trees of commits are read to be compared with others.
    """
    if not isinstance(tree, DiskTree):
        return {}
    known = {}
    for job in jobs:
        if _faultless_proof(job) in proofs:
            lock = tree.readable_lock(job.site.name)
            files = tree.contents(job.site.name, (*lock.files, LOCKFILE)) if lock else {}
            if _made_proof(job, files) in proofs:
                known[job.site.name] = files
    return known


def unproven(proofs: Proofs, jobs: Iterable[Job]) -> list[Job]:
    """Return the clusters of which it is not known that nothing is found in their objects."""
    return [job for job in jobs if _faultless_proof(job) not in proofs]


def proofs_of(jobs: Iterable[Job], sites: Iterable[MadeSite]) -> Iterator[str]:
    """Yield the proofs of clusters without a finding."""
    for job, site in zip(jobs, sites, strict=True):
        if not site.found:
            yield _faultless_proof(job)
        if not site.found and site.files:
            yield _made_proof(job, site.files)


def _faultless_proof(job: Job) -> str:
    """Return the proof that nothing is found in the objects of a cluster."""
    return proof(b"faultless", job.inputs)


def _made_proof(job: Job, files: Mapping[str, bytes]) -> str:
    """Return the proof that a cluster's inputs make some files."""
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(f"{len(path)} {path} {len(files[path])} ".encode())
        digest.update(files[path])
    return proof(b"made", job.inputs, content_of(job.given), digest.digest())
