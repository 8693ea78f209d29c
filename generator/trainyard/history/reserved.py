"""The rule on new names: no tenant could have taken one before the delivery gives it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Pointer, Rule, Severity
from trainyard.history.replacement import Replacement
from trainyard.model import names
from trainyard.model.identity import Identity
from trainyard.model.tenant import Tenant

NAME_NOT_RESERVED = Rule(
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
RULES = (NAME_NOT_RESERVED,)

_POLICY = Identity("ValidatingAdmissionPolicy", "", names.TENANT_OBJECTS)
_VARIABLES = {"ConfigMap": "reservedConfigMaps", "PersistentVolumeClaim": "reservedClaims"}
_NAME = re.compile("'([^']*)'")


def name_not_reserved(replacement: Replacement) -> Iterator[Diagnostic]:
    """Compare names in namespaces that exist with those that the committed policy reserves."""
    present = {namespace.name for namespace in replacement.old("Namespace")}
    for tenant in replacement.site.tenants:
        for kind, namespace, name, at in _named(tenant):
            if namespace in present and not _is_reserved(replacement, kind, name):
                message = (
                    f"{kind} `{name}` is new in namespace `{namespace}` of cluster "
                    f"`{replacement.site.name}`, and a tenant may have taken the name"
                )
                yield NAME_NOT_RESERVED.at(at, message)


def _is_reserved(replacement: Replacement, kind: str, name: str) -> bool:
    known = _reserved(replacement, _VARIABLES[kind])
    return known is None or name in known or name.startswith(names.RESERVED_PREFIX)


def _reserved(replacement: Replacement, variable: str) -> frozenset[str] | None:
    """Return the names that the committed policy reserves; None if it is older than the list."""
    policy = replacement.before.get(_POLICY)
    variables = policy.body["spec"].get("variables", []) if policy else []
    for each in variables:
        if each["name"] == variable:
            return frozenset(_NAME.findall(each["expression"]))
    return None


def _named(tenant: Tenant) -> Iterator[tuple[str, str, str, Pointer]]:
    """Yield kind, namespace, name and place of what tenants could make too.

    A claim that is adopted exists: its name was given by whoever moved it here.
    """
    for claim in (claim for space in tenant.spaces for claim in space.claims):
        if claim.storage.kind != "adopted":
            yield "PersistentVolumeClaim", claim.namespace, claim.name, claim.request.at.key()
    for component in tenant.components:
        for at, _, body in component.each():
            if body["kind"] == "ConfigMap":
                metadata = body["metadata"]
                place = at / "metadata" / "name"
                yield "ConfigMap", metadata.get("namespace", ""), metadata["name"], place
