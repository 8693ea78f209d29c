"""The kinds that a release must have schemas of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.derivation.derive import gvk_of
from trainyard.derivation.source import Gvk
from trainyard.render.catalog import CATALOG, DELIVERY, Entry
from trainyard.render.templates import type_of


def needed_kinds(fields: Mapping[str, Any]) -> set[Gvk]:
    """Return the kinds that a release's templates write and its components may contain.

    Args:
        fields: of the release, all of them.
    """
    entries: tuple[Entry[Any], ...] = (*CATALOG, *DELIVERY)
    written = {
        gvk_of(*type_of(entry.template)) for entry in entries if entry.is_in(fields["features"])
    }
    return written | {gvk_of(version, kind) for kind, version in fields["componentKinds"].items()}
