"""The rule on the domain of our own labels: it stays."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.change.history.replacement import Replacement
from trainyard.diagnostics import Diagnostic
from trainyard.model.identity import team_label_of
from trainyard.rules.change.domain_moved import RULE as DOMAIN_MOVED


def domain_moved(replacement: Replacement) -> Iterator[Diagnostic]:
    """Find a domain other than that of the committed namespaces."""
    settings = replacement.site.cluster.settings
    labels = map(team_label_of, replacement.old("Namespace"))
    former = {label.partition("/")[0] for label in labels}
    for domain in sorted(former - {"", settings.domain}):
        message = f"the committed tree has domain `{domain}`, not `{settings.domain}`"
        yield DOMAIN_MOVED.at(settings.at / "domain", message)
