"""From the controls of a regulation to the objects that answer them.

Each sentence follows from what is there: an object of the tree, or a line of a profile that the
sentence names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from trainyard.model.compliance import Compliance
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.model.tenant import Tenant
from trainyard.render.measures.access import access
from trainyard.render.measures.answer import OPEN, Measure, SiteObjects
from trainyard.render.measures.audit import audit
from trainyard.render.measures.encryption import fips, transit
from trainyard.render.measures.network import network
from trainyard.render.measures.nodes import nodes
from trainyard.render.measures.storage import storage

MEASURES: Mapping[str, tuple[str, Measure]] = {
    "accessControl": ("access control", access),
    "audit": ("audit", audit),
    "dedicatedNodes": ("dedicated nodes", nodes),
    "encryptedStorage": ("encrypted storage", storage),
    "encryptionInTransit": ("encryption in transit", transit),
    "fips": ("FIPS mode", fips),
    "networkIsolation": ("network isolation", network),
}
"""Key of a compliance profile -> name of the measure, and the function that answers it."""

OUTSIDE: Mapping[str, str] = {
    "accessControl": "the members of the identity provider's groups",
    "audit": "the installation of the audit policy, and the log",
    "dedicatedNodes": "the taints and labels of the nodes",
    "encryptedStorage": "the encryption of the storage, and that of the nodes' own disks",
    "encryptionInTransit": "the encryption of the pod network",
    "fips": "the installation of the nodes in FIPS mode",
    "networkIsolation": "partitions and VLANs in the subnet manager and the switches",
}
"""Key of a compliance profile -> what the measure depends on that is not in the tree."""


@dataclass(frozen=True, slots=True)
class Row:
    """A control, and what answers it.

    Args:
        how: Markdown, in which texts of profiles are escaped.
        objects: paths below the cluster's folder.
    """

    control: str
    measure: str
    state: str
    how: str
    objects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A team under a regulation."""

    title: str
    team: str
    contact: str
    file: str
    rows: tuple[Row, ...]


def evidence(site: Site, manifests: Sequence[Manifest]) -> tuple[Section, ...]:
    """Return a section for each team of a site that is under a regulation."""
    place = SiteObjects(site, manifests)
    return tuple(
        Section(
            title=regulation.title,
            team=tenant.name,
            contact=tenant.team.contact,
            file=tenant.team.at.file,
            rows=tuple(_rows(tenant, regulation, place)),
        )
        for tenant, regulation in _regulated(site)
    )


def unanswered(site: Site, manifests: Sequence[Manifest]) -> Mapping[str, frozenset[str]]:
    """Return the measures that the tree of a site alone does not meet, by team.

    Args:
        site: the cluster with its teams.
        manifests: its objects; bindings may be missing, as they only show who has access.
    """
    place = SiteObjects(site, manifests)
    return {
        tenant.name: frozenset(
            measure
            for measure in regulation.controls
            if MEASURES[measure][1](tenant, place).state == OPEN
        )
        for tenant, regulation in _regulated(site)
    }


def outside(site: Site) -> tuple[str, ...]:
    """Return what the measures of a site's teams depend on that is not in its tree."""
    asked: set[str] = set()
    has_fabric = False
    for tenant, regulation in _regulated(site):
        asked.update(regulation.controls)
        has_fabric |= bool(tenant.address_pools)
    if not has_fabric:
        asked.discard("networkIsolation")
    return tuple(what for measure, what in OUTSIDE.items() if measure in asked)


def _regulated(site: Site) -> Iterator[tuple[Tenant, Compliance]]:
    """Yield each team that is under a regulation, with that regulation."""
    for tenant in site.tenants:
        if tenant.team.compliance:
            yield tenant, tenant.team.compliance


def _rows(tenant: Tenant, regulation: Compliance, place: SiteObjects) -> Iterator[Row]:
    controls = sorted(regulation.controls.items(), key=lambda pair: (pair[1], pair[0]))
    for measure, control in controls:
        name, answer = MEASURES[measure]
        measured = answer(tenant, place)
        paths = tuple(manifest.path for manifest in measured.objects)
        yield Row(control, name, measured.state, measured.how, paths)
