"""The objects that teams add with hand-written components."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.model.platform import Platform, Site
from trainyard.model.tenant import Tenant


@dataclass(frozen=True, slots=True)
class ComponentObject:
    """An object that a team's component adds to a cluster.

    Args:
        at: the object's place in the component's file.
        file: the file's name as the component lists it.
        body: the object as plain data; it has ``kind``, ``apiVersion`` and ``metadata.name``.
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
        """API group; empty for the core group."""
        return str(self.body["apiVersion"]).rpartition("/")[0]

    @property
    def served(self) -> str:
        """The ``apiVersion`` that the release accepts; empty for a kind that is not allowed."""
        served = self.site.cluster.release.component_kinds.get(self.kind, "")
        return served if served.rpartition("/")[0] == self.group else ""

    @property
    def display(self) -> str:
        """The object and its file, for a message."""
        return f"{self.kind} `{self.body['metadata']['name']}` in {self.file}"


def component_objects(platform: Platform, kind: str = "") -> Iterator[ComponentObject]:
    """Yield the objects that components add, once for each team and cluster.

    Args:
        platform: all teams with their components.
        kind: yield objects of this kind only; all kinds when empty.
    """
    for site in platform.sites:
        for tenant in site.tenants:
            for component in tenant.components:
                for added in component.each():
                    each = ComponentObject(site, tenant, *added)
                    if kind in ("", each.kind):
                        yield each


def distinct(findings: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield each finding once: the same component is in use on several clusters."""
    yield from dict.fromkeys(findings)
