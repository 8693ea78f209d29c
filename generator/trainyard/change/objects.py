"""One cluster before and after a change: its objects, profiles and files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from trainyard.model.identity import Identity
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.model.tenant import Tenant

Objects: TypeAlias = Mapping[Identity, Manifest]
FileChange: TypeAlias = Literal["changed", "created", "deleted"]


@dataclass(frozen=True, slots=True)
class Sides:
    """One cluster before and after the change.

    Args:
        name: of the cluster.
        old, new: the cluster as the profiles describe it; None where it has no profile, or where
            the old profiles can't be resolved any more.
        before: objects of the base's committed tree.
        after: objects that the profiles make now.
        renamed: old name of a team -> its new name.
        files: what becomes of each generated file that differs, by its path below the folder.
    """

    name: str
    old: Site | None
    new: Site | None
    before: Objects
    after: Objects
    renamed: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, FileChange] = field(default_factory=dict)

    @property
    def moved(self) -> dict[str, str]:
        """Namespaces that teams keep under another name: the new name, by the old one."""
        return moved_namespaces(self.before, self.after, self.renamed)

    @property
    def in_use(self) -> Sides:
        """Both sides without nodes in maintenance."""
        old, new = (site.in_use if site else None for site in (self.old, self.new))
        return replace(self, old=old, new=new)

    @property
    def are_comparable(self) -> bool:
        """Whether the numbers of both sides are known: old profiles may be unreadable."""
        return self.old is not None or not self.before

    @property
    def tenants(self) -> tuple[dict[str, Tenant], dict[str, Tenant]]:
        """Teams before and after, by their names after the change."""
        before = {}
        for tenant in self.old.tenants if self.old else ():
            before[self.renamed.get(tenant.name, tenant.name)] = tenant
        after = self.new.tenants if self.new else ()
        return before, {tenant.name: tenant for tenant in after}

    def kept_tenants(self) -> Iterator[tuple[str, Tenant, Tenant]]:
        """Yield each team on both sides: its name after the change, before, after; sorted."""
        before, after = self.tenants
        for name in sorted(before.keys() & after.keys()):
            yield name, before[name], after[name]


def moved_namespaces(before: Objects, after: Objects, renamed: Mapping[str, str]) -> dict[str, str]:
    """Return the new name of each namespace that a team keeps under another one, by its old name.

    Args:
        before: objects of the committed tree.
        after: objects that the profiles make now.
        renamed: old name of a team -> its new name.
    """
    units = {f"teams/{old}": f"teams/{new}" for old, new in renamed.items()}
    was, now = _by_space(before, units), _by_space(after, {})
    return {was[key]: now[key] for key in sorted(was.keys() & now.keys()) if was[key] != now[key]}


def _by_space(objects: Objects, units: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """Return the namespaces that exist by unit, and by a file that each space has one of."""
    found = {}
    for policy in of_kind(objects, "NetworkPolicy"):
        if policy.name == "default-deny":
            unit, _, file = policy.path.rpartition("/")
            found[units.get(unit, unit), file] = policy.namespace
    return found


def of_kind(objects: Objects, *kinds: str) -> Iterator[Manifest]:
    """Yield the objects of some kinds, in the order of the tree."""
    for identity, manifest in objects.items():
        if identity.kind in kinds:
            yield manifest
