"""Make the trees of clusters: each from its own part of the platform, so that none waits."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from trainyard.diagnostics import Diagnostic
from trainyard.generation.emission import emit_site
from trainyard.generation.objects import check_tree
from trainyard.model.holding import Given
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.render.site import render_site
from trainyard.side_by_side import side_by_side

_TEAMS = 20
"""Teams for which another process is worth its start: a tenth of a second of work."""

Manifests = tuple[Manifest, ...]


class Packed:
    """Manifests that come from another process as bytes: few commands read them."""

    def __init__(self, manifests: Manifests | bytes) -> None:
        self._manifests = manifests

    def __reduce__(self) -> tuple[type[Packed], tuple[bytes]]:
        return Packed, (pickle.dumps(self._manifests, protocol=5),)

    def __call__(self) -> Manifests:
        """Return the manifests."""
        if isinstance(self._manifests, bytes):
            self._manifests = pickle.loads(self._manifests)  # noqa: S301 - of our own process
        return self._manifests


class LateManifests(Mapping[str, Manifests]):
    """Manifests of each cluster, which are made when they are asked for.

    Args:
        makers: by cluster.
    """

    def __init__(self, makers: Mapping[str, Callable[[], Manifests]]) -> None:
        self._makers = makers
        self._made: dict[str, Manifests] = {}

    def __getitem__(self, cluster: str) -> Manifests:
        if cluster not in self._made:
            self._made[cluster] = self._makers[cluster]()
        return self._made[cluster]

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
    """The tree of a cluster: its objects, what was found in them, and its files by path."""

    manifests: Packed
    found: tuple[Diagnostic, ...]
    files: dict[str, bytes]


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
    return MadeSite(Packed(manifests), tuple(check_tree(job.site, manifests)), files)


def _check(job: Job) -> MadeSite:
    manifests = render_site(job.site, job.components_root)
    return MadeSite(Packed(()), tuple(check_tree(job.site, manifests)), {})
