"""Compare the largest job of each namespace with the nodes that NVLink connects."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.space import Space
from trainyard.rules._check import Check
from trainyard.rules.capacity._jobs import largest_job

RULE = Rule(
    id="capacity/job-larger-than-nvlink-domain",
    severity=Severity.WARNING,
    summary="""
        A team's `largestJob` has no more nodes than NVLink connects, where the jobs of all its
        runtimes use NVLink between nodes.
    """,
    why="""
        Such a job is within one NVLink domain, so the admission policy applies the smaller number:
        the API server refuses every larger job, as with `capacity/job-larger-than-runtime-cap`.
    """,
    fix="""
        Set `largestJob` to the nodes of a domain. For larger jobs, give the team nodes of a pool
        without `nvlink`, or a runtime with `fabric: tcp`.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for space in (space for tenant in site.tenants for space in tenant.spaces):
            yield from _capped(space)


def _capped(space: Space) -> Iterator[Diagnostic]:
    """Yield a finding for a namespace whose jobs all are limited by a domain."""
    launches = [grant.launch for grant in space.grants if grant.launch.part == 1]
    wanted = max((each.runtime.max_nodes for each in launches), default=0)
    most = max((each.most_nodes for each in launches), default=0)
    if most < min(space.profile.largest_job, wanted):
        yield RULE.at(
            space.profile.largest_job_at,
            f"{largest_job(space.team, space.profile)}, but NVLink connects {most} nodes",
            hint=f"Set `largestJob: {{nodes: {most}}}`.",
            notes=list(_notes(space)),
        )


def _notes(space: Space) -> Iterator[Note]:
    for pool in space.cluster.pools:
        if pool.has_nvlink:
            yield Note(f"pool `{pool.name}` has it", pool.at / "nvlink")


CHECK = Check(RULE, find, each=("quota", "runtimes"))
