"""Find namespaces of teams among the ways out."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model import names
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="isolation/egress-reaches-a-tenant",
    severity=Severity.ERROR,
    summary="No way out leads into a team's namespace.",
    why="""
        Ways out hold for every team: each could send to the pods of that one, on ports that its own
        jobs listen on.
    """,
    fix="Serve what is shared from a namespace that belongs to no team.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    tenants = {
        names.namespace(team.name, space.name): team
        for team in platform.teams
        for space in team.spaces
    }
    for site in platform.sites:
        for egress in site.cluster.egress:
            for i, namespace in enumerate(egress.namespaces):
                if namespace in tenants:
                    team = tenants[namespace]
                    message = (
                        f"egress `{egress.name}` lets every team reach the namespace of team "
                        f"{team.name}"
                    )
                    yield RULE.at(
                        egress.at / "namespaces" / i,
                        message,
                        notes=[Note(f"team {team.name}", team.at)],
                    )


CHECK = Check(RULE, find)
