"""Everything that a report shows."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.capacity.figures import Capacity
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.workflows.counts import Count


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
    """A warning that an owner accepts until a day."""

    rule: str
    file: str
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
class Content:
    """A platform.

    Args:
        version: of Trainyard.
        title: of the platform, e.g. the repository's address.
        profiles: how many files were read.
        waivers: of warnings, which are in no finding.
        clusters: none when the profiles have errors that leave no platform.
        unverified: why kustomize and kubeconform did not look at the tree; empty when they did.
    """

    version: str
    title: str
    profiles: int
    findings: tuple[Finding, ...]
    waivers: tuple[Waiver, ...]
    clusters: tuple[Cluster, ...]
    unverified: str

    def count(self, severity: str) -> int:
        """Return how many places have a finding of a severity."""
        return sum(len(each.places) for each in self.findings if each.severity == severity)
