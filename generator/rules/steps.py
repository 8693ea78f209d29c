"""Steps before the ranks: what they need of the namespaces that may use them."""

from __future__ import annotations

from collections.abc import Iterator

from generator.diagnostics import Diagnostic, Note, Rule, Severity
from generator.model.platform import Platform
from generator.model.space import Space
from generator.rules._check import Check

VOLUME_WITHOUT_CLAIM = Rule(
    id="runtime/volume-without-claim",
    severity=Severity.ERROR,
    summary="Each namespace that may use a runtime with `initialize` asks for the storage that its steps write to.",
    why=(
        "Steps and ranks share that claim at /workspace. Without it the job is admitted, holds its nodes, and every pod"
        ' of it stays Pending: kube-scheduler says `persistentvolumeclaim "scratch" not found`.'
    ),
    fix="Ask for it in the `storage` of the team, or of the space; a bucket is no claim.",
)


def volume_without_claim(platform: Platform) -> Iterator[Diagnostic]:
    """Look for the claim of each runtime in each namespace that may use it; every cluster where it lacks is told."""
    for site in platform.sites:
        for tenant in site.tenants:
            for space in tenant.spaces:
                yield from _missing(space)


def _missing(space: Space) -> Iterator[Diagnostic]:
    claims = {claim.name for claim in space.claims}
    wanted = {launch.runtime.name: launch for launch in space.launches if launch.volume not in {"", *claims}}
    for name, launch in sorted(wanted.items()):
        message = (
            f"namespace `{space.namespace}` on {space.cluster.name} has no claim `{launch.volume}`,"
            f" which runtime `{name}` mounts"
        )
        notes = [Note("said here", launch.runtime.at / "initialize" / "volume")]
        yield VOLUME_WITHOUT_CLAIM.at(space.profile.at / "storage", message, notes=notes)


CHECKS = (Check(VOLUME_WITHOUT_CLAIM, volume_without_claim),)
