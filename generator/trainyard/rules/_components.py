"""What teams bring by hand-written components."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.model.platform import Platform, Site
from trainyard.model.tenant import Tenant


@dataclass(frozen=True, slots=True)
class Brought:
    """An object that a team brings to a cluster.

    Args:
        at: its place in the component's file.
        file: as the component lists it.
    """

    site: Site
    tenant: Tenant
    at: Pointer
    file: str
    body: dict[str, Any]

    @property
    def kind(self) -> str:
        """Kind of the object."""
        return str(self.body["kind"])

    @property
    def group(self) -> str:
        """API group; empty for Kubernetes' own."""
        return str(self.body["apiVersion"]).rpartition("/")[0]

    @property
    def served(self) -> str:
        """The ``apiVersion`` in which a component may hold it; empty for a kind that it may not."""
        served = self.site.cluster.release.component_kinds.get(self.kind, "")
        return served if served.rpartition("/")[0] == self.group else ""

    @property
    def display(self) -> str:
        """The object and its file, for a message."""
        return f"{self.kind} `{self.body['metadata']['name']}` in {self.file}"


def brought(platform: Platform, kind: str = "") -> Iterator[Brought]:
    """Yield the objects that every team brings to each of its clusters, of one kind when it is given."""
    for site in platform.sites:
        for tenant in site.tenants:
            for component in tenant.components:
                objects = (Brought(site, tenant, *each) for each in component.each())
                yield from (each for each in objects if kind in ("", each.kind))


def once(found: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield what differs: a mistake is one, on however many clusters it is."""
    yield from dict.fromkeys(found)
