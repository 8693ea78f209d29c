"""Every name that a manifest uses is defined in the tree or declared external, with its owner."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from generator.diagnostics import Diagnostic
from generator.model.manifest import Manifest
from generator.model.platform import Site


def check_references(site: Site, manifests: Sequence[Manifest]) -> Iterator[Diagnostic]:
    """Placeholder until the graph is written."""
    del site, manifests
    yield from ()
