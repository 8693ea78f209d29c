"""Count a cluster's frameworks where an operator installs Kueue."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

FRAMEWORKS_LIMIT: Final = 14
"""Maximum of job kinds in the operator's Kueue object (`maxItems` in its CRD). Kueue knows more."""


RULE = Rule(
    id="scheduling/too-many-frameworks",
    severity=Severity.ERROR,
    summary=f"""
        Where an operator installs Kueue, a cluster has at most {FRAMEWORKS_LIMIT} `frameworks`.
    """,
    why="""
        Argo CD's sync of the platform unit fails, because the API server refuses the operator's
        Kueue object with more.
    """,
    fix="Remove from `frameworks` the job kinds that teams do not submit.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        cluster = site.cluster
        count = len(site.frameworks)
        if count > FRAMEWORKS_LIMIT and "kueue-operator" in cluster.release.features:
            message = (
                f"cluster {cluster.name} lists {count} frameworks; the Kueue object of "
                f"{cluster.release.name} allows {FRAMEWORKS_LIMIT}"
            )
            yield RULE.at(cluster.at / "frameworks", message)


CHECK = Check(RULE, find)
