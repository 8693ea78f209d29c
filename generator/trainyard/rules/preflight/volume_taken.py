"""Find volumes that a claim of the tree can't have, or that end with it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.facts import Body, named
from trainyard.model.live import Live
from trainyard.model.lookup import mapping, text
from trainyard.model.manifest import Manifest
from trainyard.model.readable import VOLUMES
from trainyard.model.readable_of_tree import CLAIMS
from trainyard.rules._check import LiveCheck

RULE = Rule(
    id="preflight/volume-taken",
    severity=Severity.ERROR,
    summary="Each volume that a claim adopts exists, is free or its own, and outlives the claim.",
    why="""
        A claim of a volume that another one holds stays Pending, and so does each pod that mounts
        it. A volume with another reclaim policy than `Retain` is deleted with its claim.
    """,
    fix="""
        Set `persistentVolumeReclaimPolicy: Retain`; delete the old claim; then replace `claimRef`
        and the class of the volume in one patch. Without a reference any claim may get it.
    """,
)


def find(live: Live) -> Iterator[Diagnostic]:
    known, own = named(live.of(VOLUMES)), {each.name for each in live.made(VOLUMES)}
    for manifest in live.made(CLAIMS):
        volume = text(manifest.body, "spec", "volumeName")
        if volume and volume not in own:
            fault = _fault(known.get(volume), manifest)
            if fault:
                yield RULE.at(manifest.at, f"volume `{volume}` of claim `{manifest.name}` {fault}")


def _fault(volume: Body | None, claim: Manifest) -> str:
    if volume is None:
        return "does not exist"
    spec = mapping(dict(volume), "spec")
    holder = text(spec, "claimRef", "namespace"), text(spec, "claimRef", "name")
    if holder not in {("", ""), (claim.namespace, claim.name)}:
        return f"is held by claim {'/'.join(holder)}"
    policy = text(spec, "persistentVolumeReclaimPolicy")
    return "" if policy in {"", "Retain"} else f"has the reclaim policy {policy}"


def _has_claims(live: Live) -> bool:
    return any(text(each.body, "spec", "volumeName") for each in live.made(CLAIMS))


LIVE = LiveCheck(RULE, find, (VOLUMES,), concerns=_has_claims)
