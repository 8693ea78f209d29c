"""Hand-written components: they reach a team's namespace with the rights of the platform."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from generator.diagnostics import Diagnostic, Pointer, Rule, Severity
from generator.model.component import Component
from generator.model.platform import Platform
from generator.rules._check import Check

FORBIDDEN_KINDS = frozenset(
    {
        "ClusterRole",
        "ClusterRoleBinding",
        "LimitRange",
        "LocalQueue",
        "MultiNetworkPolicy",
        "Namespace",
        "NetworkAttachmentDefinition",
        "NetworkPolicy",
        "ResourceQuota",
        "Role",
        "RoleBinding",
        "Secret",
        "ServiceAccount",
    }
)
"""What a team's isolation is made of; Trainyard alone writes these. Kustomize unpacks a list, whatever is in it."""

COMPONENT_IN_FOREIGN_NAMESPACE = Rule(
    id="delivery/component-in-foreign-namespace",
    severity=Severity.ERROR,
    summary="A component's objects stand in the namespace of the team that lists it.",
    why="The team's AppProject permits its own namespace only: Argo CD refuses to sync the whole unit.",
    fix="Set `metadata.namespace` to the team's; what is not in a namespace does not belong to a team.",
)
COMPONENT_OF_FORBIDDEN_KIND = Rule(
    id="delivery/component-of-forbidden-kind",
    severity=Severity.ERROR,
    summary="A component adds nothing that a team's isolation is made of.",
    why=(
        "Policies and roles add up: one more NetworkPolicy or RoleBinding opens the team, a NetworkAttachmentDefinition"
        " picks any partition, another LocalQueue any quota, and a Secret in Git is none."
    ),
    fix="Say it in the team's or cluster's profile; for secrets use a secret store.",
)


def component_in_foreign_namespace(platform: Platform) -> Iterator[Diagnostic]:
    """Compare the namespace of each object with that of each team that lists it."""
    for team, namespaces, component in _uses(platform):
        for at, file, body in _objects(component):
            where = body["metadata"].get("namespace", "")
            if where not in namespaces:
                stands = f"stands in `{where}`" if where else "says no namespace"
                own = ", ".join(f"`{each}`" for each in namespaces)
                message = f"{body['kind']} `{body['metadata']['name']}` in {file} {stands}; team {team} has {own}"
                yield COMPONENT_IN_FOREIGN_NAMESPACE.at(at, message)


def component_of_forbidden_kind(platform: Platform) -> Iterator[Diagnostic]:
    """Look at the kind of every object."""
    for component in _listed(platform):
        for at, file, body in _objects(component):
            if body["kind"] in FORBIDDEN_KINDS or body["kind"].endswith("List"):
                message = f"{file} holds the {body['kind']} `{body['metadata']['name']}`"
                yield COMPONENT_OF_FORBIDDEN_KIND.at(at, message)


def _uses(platform: Platform) -> list[tuple[str, tuple[str, ...], Component]]:
    """Return (team, its namespaces, component), each once whatever clusters the team is on."""
    found = {
        (tenant.name, component.name): (tenant.name, tuple(space.namespace for space in tenant.spaces), component)
        for site in platform.sites
        for tenant in site.tenants
        for component in tenant.components
    }
    return [use for _, use in sorted(found.items())]


def _listed(platform: Platform) -> list[Component]:
    found = {component.name: component for _, _, component in _uses(platform)}
    return [component for _, component in sorted(found.items())]


def _objects(component: Component) -> Iterator[tuple[Pointer, str, dict[str, Any]]]:
    for i, (file, bodies) in enumerate(component.objects.items()):
        yield from ((component.at / "resources" / i, file, body) for body in bodies)


CHECKS = (
    Check(COMPONENT_IN_FOREIGN_NAMESPACE, component_in_foreign_namespace),
    Check(COMPONENT_OF_FORBIDDEN_KIND, component_of_forbidden_kind),
)
