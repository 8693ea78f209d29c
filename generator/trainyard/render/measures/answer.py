"""The answer to a measure, and the objects that answers refer to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.model.tenant import Tenant
from trainyard.render.markdown import text

ANSWERED = "answered"
OPEN = "not answered"
NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a measure for a team.

    Args:
        how: Markdown; each sentence follows from the objects, or names the profile that states it.
        objects: of the cluster's tree.
        state: ``answered``, ``not answered`` or ``not applicable``.
    """

    how: str
    objects: Sequence[Manifest] = ()
    state: str = ANSWERED


@dataclass(frozen=True, slots=True)
class SiteObjects:
    """A site with its objects."""

    site: Site
    manifests: Sequence[Manifest]

    def of(self, kind: str, names: Collection[str] | None = None) -> list[Manifest]:
        """Return the objects of a kind, of all names or of some."""
        of_kind = [manifest for manifest in self.manifests if manifest.kind.name == kind]
        if names is None:
            return of_kind
        return [manifest for manifest in of_kind if manifest.name in names]

    def own(self, tenant: Tenant, kind: str) -> list[Manifest]:
        """Return the objects of a kind in a team's unit."""
        return [manifest for manifest in self.of(kind) if manifest.unit == tenant.unit]


Measure: TypeAlias = Callable[[Tenant, SiteObjects], Answer]
"""Answers a measure for a team."""


def listed(words: Iterable[str]) -> str:
    """Return words of profiles or objects as Markdown, sorted."""
    return ", ".join(map(text, sorted(set(words))))
