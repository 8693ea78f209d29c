"""Find pools whose labels also select the nodes of another pool."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.pool import Pool
from trainyard.rules._check import Check
from trainyard.rules._labels import as_selector

RULE = Rule(
    id="node/overlapping-pools",
    severity=Severity.ERROR,
    summary="No two pools of a cluster select the same node.",
    why="""
        Kueue admits jobs to twice the nodes that exist, because it counts them once for each
        flavor. A node in two SR-IOV pools is an error of the SR-IOV operator, which then configures
        neither.
    """,
    fix="""
        Give the nodes of each pool a label of their own. For pools of one hardware profile, state
        one key with a different value under `labels` of each pool.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for wide, narrow in permutations(site.cluster.pools, 2):
            if _selects(wide, narrow):
                message = (
                    f"pool `{wide.name}` also selects the nodes of pool `{narrow.name}`: "
                    f"{as_selector(wide.labels)}"
                )
                notes = [_labels(wide), _labels(narrow)]
                yield RULE.at(wide.at.key(), message, notes=notes)


def _selects(wide: Pool, narrow: Pool) -> bool:
    """Return whether a pool's labels are all on another's nodes; of two equal pools the first."""
    one, two = wide.labels.items(), narrow.labels.items()
    return one < two or (one == two and wide.name < narrow.name)


def _labels(pool: Pool) -> Note:
    return Note(f"labels of `{pool.name}`", pool.labels_at)


CHECK = Check(RULE, find)
