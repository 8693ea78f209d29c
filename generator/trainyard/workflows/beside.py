"""Put a cluster that runs beside the tree that is committed for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from trainyard.diagnostics import Diagnostic, has_errors
from trainyard.generation.generate import Generation, Run, Target
from trainyard.generation.objects import component_manifests
from trainyard.generation.waivers import not_waived
from trainyard.model.facts import Facts
from trainyard.model.live import Live
from trainyard.model.platform import Platform, Site
from trainyard.workflows.facts import argocd_of, kueue_of
from trainyard.workflows.generate import check_tree

ReadFacts = Callable[[Platform], tuple[Site, Facts]]
"""Returns the cluster that is wanted, and its facts."""


Findings = Callable[[Live], Iterator[Diagnostic]]
"""Returns what is found of a cluster beside its tree."""


@dataclass(frozen=True, slots=True)
class Beside:
    """A cluster beside its tree.

    Args:
        generation: the tree.
        diagnostics: about the tree where it has errors; else about the cluster, without those that
            are waived.
        live: None when the tree has errors, so that nothing was read.
    """

    generation: Generation
    diagnostics: tuple[Diagnostic, ...]
    live: Live | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is put beside each other.

    Args:
        place: the profiles and the committed tree, which must be what they make.
        read: reads the cluster, once the tree is known to be right.
        phase: `BEFORE` the first sync of the tree, or `AFTER` it.
        today: ISO date that last days are compared with.
        read_on: ISO date of the facts; empty where nobody states it.
    """

    place: Target
    read: ReadFacts
    phase: str
    today: str
    read_on: str = ""


def beside(wanted: Wanted, run: Run, find: Findings) -> Beside:
    """Put a cluster beside its tree, and find what `find` finds.

    Args:
        wanted: the tree and the cluster.
        run: what earlier commands proved.
        find: looks at both.

    Raises:
        TreeError: a file can't be read, or as `read`.
        ToolError: a schema is missing, or as `read`.
    """
    generation, found = check_tree(wanted.place, wanted.today, (), run)
    platform = generation.checked.platform
    if platform is None or has_errors(found):
        return Beside(generation, found)
    site, facts = wanted.read(platform)
    every = (*generation.manifests[site.name], *component_manifests(site))
    argocd = argocd_of(facts, site.cluster.argocd_namespace)
    when = wanted.read_on, wanted.today
    live = Live(site, wanted.phase, every, facts, kueue_of(facts), argocd, *when)
    left = not_waived(find(live), generation.checked.profiles.waivers)
    return Beside(generation, tuple(left), live)
