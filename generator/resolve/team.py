"""Teams as their profiles tell them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from generator.diagnostics import Pointer
from generator.dialect.source import Source
from generator.model.cluster import Cluster
from generator.model.runtime import Runtime
from generator.model.team import Account, Quota, Team
from generator.resolve.references import Found, find

_LAUNCHER_AND_NODE = 2


def resolve_team(
    name: str,
    source: Source,
    clusters: Mapping[str, Cluster],
    runtimes: Mapping[str, Runtime],
    found: Found,
) -> Team:
    """Return a team; names that lead nowhere are reported."""
    at = Pointer(source.file)
    fields = source.value
    quotas = tuple(_quotas(fields, at / "quota", clusters, found))
    for i, runtime in enumerate(fields["runtimes"]):
        find("runtime", runtime, runtimes, at / "runtimes" / i, found)
    own = max((quota.nodes for quota in quotas), default=0)
    return Team(
        name=name,
        at=at,
        state=fields.get("state", "active"),
        contact=fields["contact"],
        groups={role: tuple(sorted(groups)) for role, groups in sorted(fields["groups"].items())},
        accounts=tuple(
            Account(account, at / "serviceAccounts" / account, who["role"], who.get("owner", ""))
            for account, who in sorted(fields.get("serviceAccounts", {}).items())
        ),
        runtimes=tuple(sorted(fields["runtimes"])),
        cohort=fields.get("cohort", ""),
        quotas=quotas,
        largest_job=fields.get("largestJob", {}).get("nodes", max(own, _LAUNCHER_AND_NODE)),
        storage=tuple(sorted(fields.get("storage", {}))),
        priorities=tuple(fields.get("priorities", ())),
        components=tuple(sorted(fields.get("components", ()))),
    )


def _quotas(
    fields: Mapping[str, Any],
    at: Pointer,
    clusters: Mapping[str, Cluster],
    found: Found,
) -> Iterator[Quota]:
    for cluster_name, pools in sorted(fields["quota"].items()):
        cluster = find("cluster", cluster_name, clusters, (at / cluster_name).key(), found)
        if cluster is None:
            continue
        known = {pool.name: pool for pool in cluster.pools}
        for pool_name, quota in sorted(pools.items()):
            where = at / cluster_name / pool_name
            if find("node pool", pool_name, known, where.key(), found) is not None:
                lend = {"all": quota["nodes"], "none": 0}
                given = quota.get("lend", "all" if "cohort" in fields else "none")
                yield Quota(
                    cluster=cluster_name,
                    pool=pool_name,
                    at=where,
                    nodes=quota["nodes"],
                    borrow=quota.get("borrow", 0),
                    lend=lend[given] if isinstance(given, str) else given,
                )
