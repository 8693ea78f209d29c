"""Find pools whose labels are all on the nodes of another; two with the same labels are one finding."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="node/overlapping-pools",
    severity=Severity.ERROR,
    summary="No node is selected by two pools of a cluster.",
    why="""
        Kueue counts the nodes once for each flavor and admits twice what is there; a node in two
        SR-IOV pools is an error of the operator, which then configures neither.
    """,
    fix="""
        Give each hardware profile labels of its own, e.g. the GPU's product and one that tells the
        pools apart.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for wide, narrow in permutations(site.cluster.pools, 2):
            one, two = wide.hardware.labels.items(), narrow.hardware.labels.items()
            if one < two or (one == two and wide.name < narrow.name):
                labels = ", ".join(f"{key}={value}" for key, value in wide.hardware.labels.items())
                message = (
                    f"pool `{wide.name}` selects the nodes of pool `{narrow.name}` too: {labels}"
                )
                notes = [
                    Note(f"hardware of `{each.name}`", each.hardware.stated("labels"))
                    for each in (wide, narrow)
                ]
                yield RULE.at(wide.at.key(), message, notes=notes)


CHECK = Check(RULE, find)
