"""Find pools that state NVLink between nodes and can't have it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.nvlink import CLIQUE, FEATURE
from trainyard.model.platform import Platform
from trainyard.model.pool import Pool
from trainyard.model.release import Release
from trainyard.rules._check import Check

RULE = Rule(
    id="node/impossible-nvlink",
    severity=Severity.ERROR,
    summary="""
        A pool with `nvlink: true` has GPUs that NVLink connects between nodes, a release whose
        Kueue counts claims, and a topology whose lowest level is the nodes of one NVLink domain.
    """,
    why="""
        A claim is for an NVLink domain. Elsewhere its pods stay Pending. A Kueue that does not
        count claims admits none of these jobs, or ignores the claims. Without the level, a job is
        placed across domains, and its ranks find no NVLink to each other.
    """,
    fix="Leave `nvlink` out, or give the pool what the finding names.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for pool in site.cluster.pools:
            if pool.has_nvlink:
                for message, hint in _reasons(pool, site.cluster.release):
                    yield RULE.at(pool.at / "nvlink", message, hint=hint)


def _reasons(pool: Pool, release: Release) -> Iterator[tuple[str, str]]:
    """Yield what a pool lacks, and what to do."""
    product = pool.hardware.product
    if product is None or product.nvlink_nodes == 1:
        message = f"NVLink does not connect the nodes of hardware `{pool.hardware.name}`"
        yield message, "Leave `nvlink` out: within a node NVLink is used anyway."
    elif FEATURE not in release.features:
        message = f"Kueue {release.versions['kueue']} of release {release.name} counts no claims"
        hint = (
            "Leave `nvlink` out, and plan with the rate of the fabric between nodes. Kueue 0.18.2 "
            "and later count claims."
        )
        yield message, hint
    elif pool.topology is None or pool.topology.preferred_level != CLIQUE:
        message = f"the lowest level of pool `{pool.name}` is not `{CLIQUE}`"
        hint = (
            f"Make `{CLIQUE}` the last of `levels` of the pool's topology: NVIDIA's GPU feature "
            "discovery labels the nodes of one NVLink domain with it."
        )
        yield message, hint


CHECK = Check(RULE, find)
