"""Teams as their profiles tell them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import ceil
from typing import Any

from trainyard.diagnostics import Pointer
from trainyard.model.compliance import Compliance
from trainyard.model.pool import Pool
from trainyard.model.runtime import Runtime
from trainyard.model.team import Account, Quota, Team, TeamSpace
from trainyard.resolve.references import QUOTA_SAID_TWICE, Found, find
from trainyard.yaml_io.source import Source

Pools = Mapping[str, Mapping[str, Pool | None] | None]
"""Cluster -> node pool -> pool; None for a cluster or pool that can't be resolved."""


def resolve_team(
    name: str,
    source: Source,
    known: tuple[Pools, Mapping[str, Runtime | None], Mapping[str, Compliance | None]],
    found: Found,
) -> Team:
    """Return a team; names that lead nowhere are reported and left out."""
    at = Pointer(source.file)
    fields = source.value
    pools, runtimes, regulations = known
    quotas = tuple(_quotas(fields, at / "quota", pools, found))
    listed = [
        find("runtime", each, runtimes, at / "runtimes" / i, found)
        for i, each in enumerate(fields["runtimes"])
    ]
    usable = [runtime for runtime in listed if runtime is not None]
    compliance = None
    if "compliance" in fields:
        compliance = find(
            "compliance profile", fields["compliance"], regulations, at / "compliance", found
        )
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
        runtimes=tuple(sorted(runtime.name for runtime in usable)),
        cohort=fields.get("cohort", ""),
        quotas=quotas,
        spaces=tuple(_spaces(fields, at, (_usual_job(quotas, usable), _usual_place(quotas, at)))),
        components=tuple(sorted(fields.get("components", ()))),
        compliance=compliance,
        encrypts_transit=fields.get("encryptionInTransit"),
    )


def _usual_job(quotas: tuple[Quota, ...], runtimes: list[Runtime]) -> int:
    """Return the nodes of the largest job where none is said: its own, a share of one as a whole, or the smallest."""
    own = max((ceil(quota.nodes) for quota in quotas), default=0)
    if quotas and all(quota.is_share for quota in quotas):
        return own
    return max(own, min((each.launcher.smallest_job for each in runtimes), default=1))


def _usual_place(quotas: tuple[Quota, ...], at: Pointer) -> Pointer:
    """Return the quota that the usual largest job follows from."""
    return max(quotas, key=lambda quota: quota.nodes).place if quotas else at / "quota"


def _largest_job(
    fields: Mapping[str, Any], at: Pointer, usual: tuple[int, Pointer]
) -> tuple[int, Pointer]:
    """Return the nodes of the largest job, and the place that decides it."""
    nodes = fields.get("largestJob", {}).get("nodes")
    return usual if nodes is None else (nodes, at / "largestJob" / "nodes")


def _spaces(
    fields: Mapping[str, Any], at: Pointer, usual: tuple[int, Pointer]
) -> Iterator[TeamSpace]:
    """Yield the team's own namespace, then the further ones; what one leaves open it has from the team, but storage."""
    largest = _largest_job(fields, at, usual)
    priorities = tuple(fields.get("priorities", ()))
    yield TeamSpace("", at, *largest, tuple(sorted(fields.get("storage", {}))), priorities)
    for name, space in sorted(fields.get("spaces", {}).items()):
        nodes, place = _largest_job(space, at / "spaces" / name, largest)
        yield TeamSpace(
            name=name,
            at=at / "spaces" / name,
            largest_job=nodes,
            largest_job_at=place,
            storage=tuple(sorted(space.get("storage", {}))),
            priorities=tuple(space.get("priorities", priorities)),
        )


def _quotas(
    fields: Mapping[str, Any],
    at: Pointer,
    clusters: Pools,
    found: Found,
) -> Iterator[Quota]:
    for cluster_name, asked in sorted(fields["quota"].items()):
        known = find("cluster", cluster_name, clusters, (at / cluster_name).key(), found)
        if known is None:
            continue
        for pool_name, said in sorted(asked.items()):
            where = at / cluster_name / pool_name
            pool = find(
                f"node pool of cluster {cluster_name}", pool_name, known, where.key(), found
            )
            if pool is not None:
                _said_once(pool_name, said, where, found)
                yield _quota(cluster_name, pool, said, "cohort" in fields, where)


def _said_once(pool: str, said: Mapping[str, Any], at: Pointer, found: Found) -> None:
    if ("nodes" in said) == ("gpus" in said):
        what = (
            f"{said['nodes']} nodes and {said['gpus']} GPUs"
            if "nodes" in said
            else "neither nodes nor GPUs"
        )
        found.report(QUOTA_SAID_TWICE.at(at, f"quota of pool `{pool}` says {what}"))


def _quota(
    cluster: str, pool: Pool, fields: Mapping[str, Any], in_cohort: bool, at: Pointer
) -> Quota:
    unit = "gpus" if "gpus" in fields else "nodes"
    per_node = (pool.hardware.gpus or 1) if unit == "gpus" else 1
    own = fields.get(unit, 0)
    lend = fields.get("lend", "all" if in_cohort else "none")
    return Quota(
        cluster=cluster,
        pool=pool.name,
        at=at,
        unit=unit,
        nodes=Fraction(own, per_node),
        borrow=Fraction(fields.get("borrow", 0), per_node),
        lend=Fraction({"all": own, "none": 0}.get(lend, lend), per_node),
        per_node=per_node,
    )
