"""Find namespaces without the claim that a runtime's steps write to."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.space import Space
from trainyard.rules._check import Check

RULE = Rule(
    id="runtime/volume-without-claim",
    severity=Severity.ERROR,
    summary="""
        Each namespace that may use a runtime with `initialize` requests the storage that its steps
        write to.
    """,
    why="""
        The job is admitted and holds its nodes, but all its pods stay Pending:
        `persistentvolumeclaim "<claim>" not found` (seen with Kubernetes 1.36.3). Steps and ranks
        share that claim at /workspace.
    """,
    fix="Request it in the `storage` of the team or of the space; a bucket is not a claim.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for tenant in site.tenants:
            for space in tenant.spaces:
                yield from _missing(space)


def _missing(space: Space) -> Iterator[Diagnostic]:
    claims = {claim.name for claim in space.claims}
    wanted = {
        launch.runtime.name: launch
        for launch in space.launches
        if launch.volume not in {"", *claims}
    }
    for name, launch in sorted(wanted.items()):
        message = (
            f"namespace `{space.namespace}` on {space.cluster.name} has no claim `{launch.volume}`,"
            f" which runtime `{name}` mounts"
        )
        notes = [Note("the runtime's volume", launch.runtime.at / "initialize" / "volume")]
        cause = f"namespaces have no claim `{launch.volume}`, which runtime `{name}` mounts"
        yield RULE.at(space.profile.at / "storage", message, notes=notes, cause=cause)


CHECK = Check(RULE, find, each=("storage", "spaces"))
