"""Look for a key that tells two pools apart; pools that select each other's nodes are told of elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.pool import Pool
from trainyard.rules._check import Check
from trainyard.rules.scheduling._flavors import neighbours

RULE = Rule(
    id="scheduling/uneven-flavor-labels",
    severity=Severity.ERROR,
    summary="The labels of two pools of one queue have a key in common, with different values.",
    why="""
        A runtime of one kind of node selects its labels. Kueue compares a flavor's own keys only
        (kubernetes-sigs/kueue#12449): without a fabric it admits such a job to the other pool's
        nodes and counts it there, and its pods stay Pending, `didn't match Pod's node
        affinity/selector` (seen with Kueue 0.19.2).
    """,
    fix="""
        Select both pools by the same key, such as nvidia.com/gpu.product or a node type of your
        own.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for one, two, queue in neighbours(platform):
        labels, others = one.hardware.labels.items(), two.hardware.labels.items()
        differ = any(two.hardware.labels.get(key, value) != value for key, value in labels)
        if not differ and not labels <= others and not others <= labels:
            message = (
                f"pools `{one.name}` and `{two.name}` of queue {queue} have no key in common with "
                f"different values: {_told(one)} and {_told(two)}"
            )
            notes = [Note(f"labels of a `{one.hardware.name}`", one.hardware.stated("labels"))]
            yield RULE.at(two.hardware.at / "labels", message, notes=notes)


def _told(pool: Pool) -> str:
    return ", ".join(f"{key}={value}" for key, value in pool.hardware.labels.items())


CHECK = Check(RULE, find)
