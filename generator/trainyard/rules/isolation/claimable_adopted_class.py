"""Compare the storage class of adopted volumes with the one that only the delivery claims."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.names import ADOPTED_CLASS
from trainyard.model.platform import Platform
from trainyard.model.storage import Storage
from trainyard.rules._check import Check

RULE = Rule(
    id="isolation/claimable-adopted-class",
    severity=Severity.WARNING,
    summary=f"Adopted volumes, and no others, have the storage class `{ADOPTED_CLASS}`.",
    why=f"""
        An adopted volume that nobody reserved goes to any claim of its class that waits, in any
        namespace: a claim of 1Mi was bound to a volume of 20Ti with another team's data (seen with
        Kubernetes 1.34.4 and 1.36.3). Admission lets only the delivery claim `{ADOPTED_CLASS}`.
    """,
    fix=f"""
        Give the volumes the class `{ADOPTED_CLASS}`, and reserve each for its claim in the same
        patch. The class of a claim can't change: where claims are delivered, add storage with a new
        name for them.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for storage in site.cluster.storage:
            if problem := _problem(storage):
                yield RULE.at(storage.at, f"storage `{storage.name}` of {site.name} {problem}")


def _problem(storage: Storage) -> str:
    own = storage.storage_class == ADOPTED_CLASS
    if storage.kind == "adopted" and not own:
        return f"adopts volumes of class `{storage.storage_class}`, which any namespace may claim"
    if storage.kind == "class" and own:
        return f"provisions class `{ADOPTED_CLASS}`, which is for adopted volumes"
    return ""


CHECK = Check(RULE, find)
