"""Collect what a report shows: the checked platform, and what was verified of its tree."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.diagnostics import Diagnostic, ToolError
from trainyard.generation.generate import ALONE, Generation, Run, Target, generate
from trainyard.verify.tools import find_kubeconform, find_kustomize
from trainyard.workflows.counts import Count
from trainyard.workflows.verify import Scope, verify


@dataclass(frozen=True, slots=True)
class Examined:
    """A platform and its tree.

    Args:
        counts: of the committed tree, by cluster; empty when an error stopped the verification.
        unverified: why the tree was not verified; empty when it was.
    """

    generation: Generation
    diagnostics: tuple[Diagnostic, ...]
    counts: dict[str, Count]
    unverified: str


def examine(
    place: Target, clusters: tuple[str, ...] = (), today: str = "", run: Run = ALONE
) -> Examined:
    """Verify the committed tree, or check what is generated where a tool for that is missing.

    Args:
        place: the profiles and the tree.
        clusters: names of the only ones wanted; all when empty.
        today: ISO date that waivers are measured against.
        run: as `verify` takes it.

    Raises:
        TreeError: a file can't be read.
        ToolError: a schema is missing, or a tool breaks while it works.
    """
    missing = _missing()
    if missing:
        generation = generate(place.root, place.components_root, clusters, today, place.tree)
        return Examined(generation, generation.diagnostics, {}, missing)
    verified = verify(place, today, Scope(clusters), run)
    counts = {count.cluster: count for count in verified.counts}
    return Examined(verified.generation, verified.diagnostics, counts, "")


def _missing() -> str:
    """Return why a tool of `verify` can't be used; empty when all can."""
    try:
        find_kustomize()
        find_kubeconform()
    except ToolError as problem:
        return str(problem)
    return ""
