"""The rule on the domain of our own labels: it stays."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.history.replacement import Replacement
from trainyard.model.identity import team_label_of

DOMAIN_MOVED = Rule(
    id="change/domain-moved",
    severity=Severity.ERROR,
    summary="The domain of a delivered tree stays.",
    why="""
        Every label of Trainyard gets another name. Kueue and the admission policies select the
        namespaces of teams by such a label, and Argo CD changes labels and selectors in no order:
        in between, jobs start without a queue, and nobody enforces the teams' limits. Nodes keep
        the label of the old domain, so that no pool has a node.
    """,
    fix="""
        Restore the domain. If no cluster was ever given the tree, remove `overlays/` and run
        `trainyard generate`.
    """,
)
RULES = (DOMAIN_MOVED,)


def domain_moved(replacement: Replacement) -> Iterator[Diagnostic]:
    """Find a domain other than that of the committed namespaces."""
    settings = replacement.site.cluster.settings
    former = {
        team_label_of(namespace).partition("/")[0] for namespace in replacement.old("Namespace")
    }
    for domain in sorted(former - {"", settings.domain}):
        message = f"the committed tree has domain `{domain}`, not `{settings.domain}`"
        yield DOMAIN_MOVED.at(settings.at / "domain", message)
