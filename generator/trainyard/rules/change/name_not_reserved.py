"""Text of `change/name-not-reserved`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity
from trainyard.model import names

RULE = Rule(
    id="change/name-not-reserved",
    severity=Severity.ERROR,
    summary="A new claim or ConfigMap in a team's existing namespace has a name that was reserved.",
    why="""
        Members of the team may have an object of that name, or create it as soon as they read the
        change. With other data that is immutable, or as another claim, it can't be made the tree's:
        `field is immutable` (seen with Kubernetes 1.34.4). Each later sync of the team fails before
        it prunes, so that a role which is withdrawn stays.
    """,
    fix=f"""
        Begin the name with `{names.RESERVED_PREFIX}`: no tenant can give such a name. The name of a
        storage in the cluster's profile is reserved too: merge the storage alone first, look for
        claims of this name in the teams' namespaces, and then add it to the teams.
    """,
)
