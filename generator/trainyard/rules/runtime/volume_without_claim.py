"""Look for the claim of each runtime in each namespace that may use it; every cluster where it lacks is told."""

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
        Each namespace that may use a runtime with `initialize` asks for the storage that its steps
        write to.
    """,
    why="""
        Steps and ranks share that claim at /workspace. Without it the job is admitted, holds its
        nodes, and every pod of it stays Pending: `persistentvolumeclaim "<claim>" not found` (seen
        with Kubernetes 1.36.3).
    """,
    fix="Ask for it in the `storage` of the team, or of the space; a bucket is no claim.",
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
        notes = [Note("said here", launch.runtime.at / "initialize" / "volume")]
        cause = f"namespaces have no claim `{launch.volume}`, which runtime `{name}` mounts"
        yield RULE.at(space.profile.at / "storage", message, notes=notes, cause=cause)


CHECK = Check(RULE, find, each=("storage", "spaces"))
