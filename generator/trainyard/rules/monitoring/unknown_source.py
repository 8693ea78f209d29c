"""Find owners of metrics that no alert reads, by a name that no source has."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.monitoring import EXPORTERS, METRICS
from trainyard.model.nearest import nearest
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="monitoring/unknown-source",
    severity=Severity.WARNING,
    summary="`Metrics/<name>` in `external` names a source that alerts read.",
    why="""
        The entry has no effect. If the name is misspelt, the cluster has no alert that reads the
        source, and no TrainyardMetricsMissing reports that.
    """,
    fix="Correct the name, or remove the entry.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        known = {*site.cluster.release.metrics, *EXPORTERS}
        for entry in sorted(site.cluster.external):
            kind, _, name = entry.partition("/")
            if kind == METRICS and name not in known:
                near = nearest(name, sorted(known))
                hint = f"did you mean `{METRICS}/{near}`?" if near else ""
                place = (site.cluster.at / "external" / entry).key()
                yield RULE.at(place, f"no alert reads metrics of `{name}`", hint=hint)


CHECK = Check(RULE, find)
