"""Put a cluster that runs beside the tree that is committed for it."""

from __future__ import annotations

from collections.abc import Callable

from trainyard.diagnostics import Diagnostic, has_errors
from trainyard.generation.generate import Generation, Run, Target
from trainyard.generation.objects import component_manifests
from trainyard.model.facts import Facts
from trainyard.model.live import Live
from trainyard.model.platform import Platform, Site
from trainyard.workflows.facts import kueue_of
from trainyard.workflows.generate import check_tree

ReadFacts = Callable[[Platform], tuple[Site, Facts]]
"""Returns the cluster that is wanted, and its facts."""


def beside(
    place: Target, phase: str, today: str, run: Run, read: ReadFacts
) -> tuple[Generation, tuple[Diagnostic, ...], Live | None]:
    """Return the tree, its findings, and the cluster beside it; None where the tree has errors.

    Args:
        place: the profiles and the committed tree, which must be what they make.
        phase: `BEFORE` the first sync of the tree, or `AFTER` it.
        today: ISO date that last days are compared with.
        run: what earlier commands proved.
        read: reads the cluster, once the tree is known to be right.

    Raises:
        TreeError: a file can't be read, or as `read`.
        ToolError: a schema is missing, or as `read`.
    """
    generation, found = check_tree(place, today, (), run)
    platform = generation.checked.platform
    if platform is None or has_errors(found):
        return generation, found, None
    site, facts = read(platform)
    every = (*generation.manifests[site.name], *component_manifests(site))
    return generation, found, Live(site, phase, every, facts, kueue_of(facts))
