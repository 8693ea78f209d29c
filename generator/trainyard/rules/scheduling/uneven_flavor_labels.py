"""Find pools of one queue whose labels have no key with different values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._labels import as_selector
from trainyard.rules.scheduling._flavors import neighbours

RULE = Rule(
    id="scheduling/uneven-flavor-labels",
    severity=Severity.ERROR,
    summary="Two pools of one queue must share a label key, and differ in its value.",
    why="""
        Pods stay Pending, `didn't match Pod's node affinity/selector` (seen with Kueue 0.19.2):
        without a fabric, Kueue admits a job for one kind of node to the other pool's nodes, and
        counts it there. A runtime of one kind of node selects its labels, and Kueue compares a
        flavor's own keys only (kubernetes-sigs/kueue#12449).
    """,
    fix="""
        Select both pools by the same key, such as nvidia.com/gpu.product or a node type of your
        own.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for one, two, queue in neighbours(platform):
        if not _distinguishable(one.labels, two.labels):
            labels = as_selector(one.labels)
            others = as_selector(two.labels)
            message = (
                f"pools `{one.name}` and `{two.name}` of queue {queue} have no key in common with "
                f"different values: {labels} and {others}"
            )
            notes = [Note(f"labels of `{one.name}`", one.labels_at)]
            yield RULE.at(two.labels_at, message, notes=notes)


def _distinguishable(one: Mapping[str, str], two: Mapping[str, str]) -> bool:
    """Return whether Kueue can tell two pools apart by the value of a key.

    Pools that select each other's nodes are left to `node/overlapping-pools`.
    """
    if one.items() <= two.items() or two.items() <= one.items():
        return True
    return any(two.get(key, value) != value for key, value in one.items())


CHECK = Check(RULE, find)
