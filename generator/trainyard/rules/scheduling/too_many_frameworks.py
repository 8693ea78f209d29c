"""Count what is listed where the operator's object is made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

FRAMEWORKS_LIMIT: Final = 14
"""Most job kinds that the operator's Kueue object takes (its CRD: maxItems), although it knows
more."""


RULE = Rule(
    id="scheduling/too-many-frameworks",
    severity=Severity.ERROR,
    summary=f"""
        Where an operator installs Kueue, a cluster has at most {FRAMEWORKS_LIMIT} `frameworks`.
    """,
    why="""
        The API server refuses the operator's Kueue object with more, and Argo CD's sync of the
        platform unit fails.
    """,
    fix="Remove the job kinds that nobody submits.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for cluster in (site.cluster for site in platform.sites):
        listed = len(cluster.frameworks)
        if listed > FRAMEWORKS_LIMIT and "kueue-operator" in cluster.release.features:
            message = (
                f"cluster {cluster.name} lists {listed} frameworks; the Kueue object of "
                f"{cluster.release.name} takes {FRAMEWORKS_LIMIT}"
            )
            yield RULE.at(cluster.at / "frameworks", message)


CHECK = Check(RULE, find)
