"""Recall a cluster's tree: it was made from the same inputs, and has the same bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping

from trainyard.generation.making import Job, MadeSite
from trainyard.proofs import Proofs, content_of, proof
from trainyard.tree.disk import DiskTree
from trainyard.tree.lockfile import LOCKFILE
from trainyard.tree.tree import Tree


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
        if _faultless(job) in proofs:
            lock = tree.readable_lock(job.site.name)
            files = tree.contents(job.site.name, (*lock.files, LOCKFILE)) if lock else {}
            if _made(job, files) in proofs:
                known[job.site.name] = files
    return known


def unproven(proofs: Proofs, jobs: Iterable[Job]) -> list[Job]:
    """Return the clusters of which it is not known that nothing is found in their objects."""
    return [job for job in jobs if _faultless(job) not in proofs]


def proofs_of(jobs: Iterable[Job], sites: Iterable[MadeSite]) -> Iterator[str]:
    """Yield the proofs of clusters without a finding."""
    for job, site in zip(jobs, sites, strict=True):
        if not site.found:
            yield _faultless(job)
        if not site.found and site.files:
            yield _made(job, site.files)


def _faultless(job: Job) -> str:
    """Return the proof that nothing is found in the objects of a cluster."""
    return proof(b"faultless", job.inputs)


def _made(job: Job, files: Mapping[str, bytes]) -> str:
    """Return the proof that a cluster's inputs make some files."""
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(f"{len(path)} {path} {len(files[path])} ".encode())
        digest.update(files[path])
    return proof(b"made", job.inputs, content_of(job.given), digest.digest())
