"""Find clusters that want lines dropped by a forwarder that their tree does not have."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="monitoring/drop-without-forwarder",
    severity=Severity.ERROR,
    summary="Only a release with OpenShift has a forwarder that drops lines with credentials.",
    why="""
        Nothing drops the lines: whoever may read a team's lines reads its credentials, although the
        profile states otherwise.
    """,
    fix="""
        Remove `dropCredentials`. Have the owner of the log collector drop or rewrite such lines.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        monitoring, release = site.cluster.monitoring, site.cluster.release
        logs = monitoring.logs if monitoring else None
        if logs and logs.drops_credentials and "log-forwarder" not in release.features:
            message = f"release {release.name} has no log forwarder"
            yield RULE.at(logs.at / "dropCredentials", message)


CHECK = Check(RULE, find)
