"""Everything that a report shows."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.capacity.figures import Capacity
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.workflows.committed import Count


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding, with its places as the user opens them.

    Args:
        severity: ``error`` or ``warning``.
        places: where it is, the first one first; several for one cause.
        notes: further facts, each with its place.
    """

    rule: str
    severity: str
    message: str
    places: tuple[str, ...]
    consequence: str
    hint: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Waiver:
    """A warning that an owner accepts until a day.

    Args:
        where: file, and the key in it if only that is meant.
    """

    rule: str
    where: str
    reason: str
    owner: str
    expires: str


@dataclass(frozen=True, slots=True)
class Cluster:
    """One cluster.

    Args:
        manifests: all that was generated for it, and the objects of hand-written components.
        count: what `verify` counted; None when it did not run, or an error stopped it.
    """

    site: Site
    capacity: Capacity
    manifests: tuple[Manifest, ...]
    count: Count | None

    @property
    def name(self) -> str:
        """Name of the cluster."""
        return self.site.name


@dataclass(frozen=True, slots=True)
class Group:
    """What a change does to one cluster.

    Args:
        title: the cluster, with the number of objects that change.
        parts: headings, each with lines as `trainyard diff` prints them: a mark and a space, or
            two spaces for what explains the line above.
    """

    title: str
    parts: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Change:
    """What a change does.

    Args:
        kind: ``fine`` when nothing that runs is disturbed, ``warned`` or ``bad``.
        origin: the commits that were compared, with their days and authors.
        headline: the worst that happens.
        totals: numbers of objects; empty when they are unknown.
        notes: what was compared.
    """

    kind: str
    origin: str
    headline: str
    totals: str
    groups: tuple[Group, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Content:
    """A platform.

    Args:
        version: of Trainyard.
        title: of the platform, e.g. the repository's address.
        profiles: how many files were read.
        waivers: of warnings, which are in no finding.
        clusters: none when the profiles have errors that leave no platform.
        unverified: why kustomize and kubeconform did not look at the tree; empty when they did.
        change: None when nothing is compared.
    """

    version: str
    title: str
    profiles: int
    findings: tuple[Finding, ...]
    waivers: tuple[Waiver, ...]
    clusters: tuple[Cluster, ...]
    unverified: str
    change: Change | None

    def count(self, severity: str) -> int:
        """Return how many places have a finding of a severity."""
        return sum(len(finding.places) for finding in self.findings if finding.severity == severity)
