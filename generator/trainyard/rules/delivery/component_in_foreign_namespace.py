"""Compare the namespace of each component's object with those of the teams that list it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._components import component_objects, distinct

RULE = Rule(
    id="delivery/component-in-foreign-namespace",
    severity=Severity.ERROR,
    summary="A component's objects are in a namespace of the team that lists it.",
    why="""
        Argo CD refuses the whole sync unit, its valid objects too: `namespace <namespace> is not
        permitted in project '<project>'` (seen with Argo CD 3.5.7). The team's AppProject permits
        only the team's own namespaces.
    """,
    fix="""
        Set `metadata.namespace` to a namespace of the team; objects without a namespace cannot
        belong to a team.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    yield from distinct(_in_foreign_namespace(platform))


def _in_foreign_namespace(platform: Platform) -> Iterator[Diagnostic]:
    for handwritten in component_objects(platform):
        namespace = handwritten.body["metadata"].get("namespace", "")
        permitted = [space.namespace for space in handwritten.tenant.spaces]
        if handwritten.served and namespace not in permitted:
            actual = f"is in namespace `{namespace}`" if namespace else "has no namespace"
            own = ", ".join(f"`{name}`" for name in permitted)
            message = f"{handwritten.display} {actual}; team {handwritten.tenant.name} has {own}"
            yield RULE.at(handwritten.at / "metadata" / "namespace", message)


CHECK = Check(RULE, find)
