"""The rule on new names: no tenant could have taken one before the delivery gives it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.change.history.replacement import Replacement
from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.model import names
from trainyard.model.identity import Identity
from trainyard.model.tenant import Tenant
from trainyard.rules.change.name_not_reserved import RULE as NAME_NOT_RESERVED

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
    for own in variables:
        if own["name"] == variable:
            return frozenset(_NAME.findall(own["expression"]))
    return None


def _named(tenant: Tenant) -> Iterator[tuple[str, str, str, Pointer]]:
    """Yield kind, namespace, name and place of what tenants could make too.

    A claim that is adopted exists: its name was given by whoever moved it here.
    """
    for space in tenant.spaces:
        for claim in space.claims:
            if claim.storage.kind != "adopted":
                yield "PersistentVolumeClaim", claim.namespace, claim.name, claim.request.at.key()
    for component in tenant.components:
        for at, _, body in component.each():
            if body["kind"] == "ConfigMap":
                metadata = body["metadata"]
                place = at / "metadata" / "name"
                yield "ConfigMap", metadata.get("namespace", ""), metadata["name"], place
