"""Compare the namespace of each object with those of each team that lists it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._components import brought, once

RULE = Rule(
    id="delivery/component-in-foreign-namespace",
    severity=Severity.ERROR,
    summary="A component's objects stand in the namespace of the team that lists it.",
    why="""
        The team's AppProject permits its own namespace only, and Argo CD refuses the whole unit,
        what is right in it too: `namespace <namespace> is not permitted in project '<project>'`
        (seen with Argo CD 3.5.7).
    """,
    fix="""
        Set `metadata.namespace` to the team's; what is not in a namespace does not belong to a
        team.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    yield from once(_in_foreign_namespace(platform))


def _in_foreign_namespace(platform: Platform) -> Iterator[Diagnostic]:
    for each in brought(platform):
        where = each.body["metadata"].get("namespace", "")
        namespaces = [space.namespace for space in each.tenant.spaces]
        if each.served and where not in namespaces:
            stands = f"stands in `{where}`" if where else "says no namespace"
            own = ", ".join(f"`{namespace}`" for namespace in namespaces)
            message = f"{each.display} {stands}; team {each.tenant.name} has {own}"
            yield RULE.at(each.at / "metadata" / "namespace", message)


CHECK = Check(RULE, find)
