"""Resolve the profiles of teams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Any, TypeAlias

from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.model.compliance import Compliance
from trainyard.model.component import Component
from trainyard.model.names import namespaces
from trainyard.model.pool import Pool
from trainyard.model.runtime import Runtime
from trainyard.model.state import State, furthest
from trainyard.model.team import Account, Debuggers, MpiJobs, Quota, Team, TeamSpace, Term
from trainyard.model.unit import Unit
from trainyard.resolve.adoption import held_by, resolve_stage
from trainyard.resolve.findings import Resolving
from trainyard.resolve.queue_names import queue_names
from trainyard.resolve.references import find
from trainyard.rules.capacity.quota_defined_twice import RULE as QUOTA_DEFINED_TWICE
from trainyard.yaml_io.source import Source

Pools: TypeAlias = Mapping[str, Mapping[str, Pool | None] | None]
"""Cluster -> node pool -> pool; None for a cluster or pool that can't be resolved."""


_NO_NAMES: Mapping[str, Any] = {"quota": {}, "runtimes": ()}


@dataclass(frozen=True, slots=True)
class KnownToTeams:
    """Everything that a team's profile may name; None for what can't be resolved.

    Args:
        clusters: state of every cluster, the retired ones included.
        pools: of the clusters that are not retired.
    """

    clusters: Mapping[str, State]
    pools: Pools
    runtimes: Mapping[str, Runtime | None]
    regulations: Mapping[str, Compliance | None]
    components: Mapping[str, Component | None]


def resolve_team(name: str, source: Source, known: KnownToTeams) -> Resolving[Team]:
    """Return a team without the names that refer to nothing.

    Nothing is rendered for a retired team, and what it used may go: its names are not looked up.
    """
    at, fields = Pointer(source.file), source.value
    states = yield from _states(name, fields, at, known.clusters)
    names = _names(fields, states)
    quotas = yield from _quotas(name, names, at / "quota", known.pools)
    runtimes = yield from _runtimes(names["runtimes"], at / "runtimes", known.runtimes)
    yield from _default_runtime(name, names, known.runtimes, at / "defaultRuntime")
    compliance = yield from _compliance(names, known.regulations, at / "compliance")
    yield from _components(names.get("components", ()), at / "components", known.components)
    return Team(
        name=name,
        at=at,
        state=fields["state"],
        states=states,
        stage=resolve_stage(fields, at),
        renamed_from=fields.get("renamedFrom", ""),
        folder=fields.get("folder", name),
        contact=fields["contact"],
        cost_center=fields.get("costCenter", ""),
        owners=tuple(sorted(fields.get("owners", ()))),
        groups={role: tuple(sorted(groups)) for role, groups in sorted(fields["groups"].items())},
        debuggers=_debuggers(fields, at / "debuggers"),
        accounts=tuple(_accounts(fields, at / "serviceAccounts")),
        runtimes=tuple(sorted(runtime.name for runtime in runtimes)),
        cohort=fields.get("cohort", ""),
        weight=fields["weight"],
        quotas=quotas,
        default_runtime=fields.get("defaultRuntime", ""),
        metrics=fields.get("metrics", 0),
        own_runtimes=fields["ownRuntimes"],
        default_queue=fields.get("defaultQueue", ""),
        mpi_jobs=(yield from _mpi_jobs(names, at / "mpiJobs")),
        spaces=tuple(_spaces(name, fields, at, _usual_job(quotas, runtimes, at))),
        components=tuple(sorted(fields.get("components", ()))),
        compliance=compliance,
        encrypts_transit=fields.get("encryptionInTransit"),
    )


def _states(
    name: str, fields: Mapping[str, Any], at: Pointer, clusters: Mapping[str, State]
) -> Resolving[dict[str, State]]:
    """Return the team's state on each cluster that its profile names."""
    own = State(fields["state"], at / "state", f"team {name}")
    stated, held = fields.get("states", {}), held_by(resolve_stage(fields, at), name)
    for cluster in sorted(stated) if own.word != "retired" else ():
        yield from find("cluster", cluster, clusters, (at / "states" / cluster).key())
    found = {}
    for cluster in sorted({*fields["quota"], *stated}):
        there = [clusters[cluster]] if cluster in clusters else []
        if cluster in stated:
            there.append(replace(own, word=stated[cluster], at=at / "states" / cluster))
        found[cluster] = furthest(own, *there, *held)
    return found


def _names(fields: Mapping[str, Any], states: Mapping[str, State]) -> Mapping[str, Any]:
    """Return the fields whose names are looked up: not those of clusters that the team has left."""
    if fields["state"] == "retired":
        return _NO_NAMES
    left = {cluster for cluster, state in states.items() if state.word == "retired"}
    kept = dict(fields)
    for key in fields.keys() & {"quota", "mpiJobs"}:
        clusters = fields[key].items()
        kept[key] = {cluster: stated for cluster, stated in clusters if cluster not in left}
    return kept


def _compliance(
    fields: Mapping[str, Any], known: Mapping[str, Compliance | None], at: Pointer
) -> Resolving[Compliance | None]:
    """Return the regulation that the team is under; None where the profile states none."""
    if "compliance" not in fields:
        return None
    return (yield from find("compliance profile", fields["compliance"], known, at))


def _runtimes(
    listed: Sequence[str], at: Pointer, known: Mapping[str, Runtime | None]
) -> Resolving[list[Runtime]]:
    runtimes = []
    for i, name in enumerate(listed):
        runtime = yield from find("runtime", name, known, at / i)
        if runtime is not None:
            runtimes.append(runtime)
    return runtimes


def _components(
    listed: Sequence[str], at: Pointer, known: Mapping[str, Component | None]
) -> Resolving[None]:
    """Yield each component that does not exist."""
    for i, name in enumerate(listed):
        yield from find("component", name, known, at / i)


def _default_runtime(
    team: str, fields: Mapping[str, Any], known: Mapping[str, Runtime | None], at: Pointer
) -> Resolving[None]:
    """Yield a finding if the default is not one of the team's runtimes."""
    if "defaultRuntime" in fields:
        own = {name: known.get(name) for name in fields["runtimes"]}
        yield from find(f"runtime of team {team}", fields["defaultRuntime"], own, at)


def _mpi_jobs(fields: Mapping[str, Any], at: Pointer) -> Resolving[dict[str, MpiJobs]]:
    """Return the time for MPIJobs on each cluster on which the team has a quota."""
    found = {}
    for cluster, stated in sorted(fields.get("mpiJobs", {}).items()):
        kind, where = "cluster of the team's quota", (at / cluster).key()
        if (yield from find(kind, cluster, fields["quota"], where)) is not None:
            found[cluster] = MpiJobs(at / cluster, stated["until"])
    return found


def _accounts(fields: Mapping[str, Any], at: Pointer) -> Iterator[Account]:
    for name, account in sorted(fields.get("serviceAccounts", {}).items()):
        yield Account(name, at / name, account["role"], account.get("owner", ""))


def _debuggers(fields: Mapping[str, Any], at: Pointer) -> Debuggers | None:
    """Return who may run commands in the pods of its jobs; None where nobody may."""
    if not (stated := fields.get("debuggers")):
        return None
    return Debuggers(at, tuple(sorted(stated["groups"])), stated["until"], stated["reason"])


def _usual_job(
    quotas: tuple[Quota, ...], runtimes: list[Runtime], at: Pointer
) -> tuple[int, Pointer]:
    """Return the nodes of the largest job where the profile states none, and what decides it.

    These are the team's own nodes, at least those of its smallest job; a share is one whole job.
    """
    place = max(quotas, key=lambda quota: quota.nodes).place if quotas else at / "quota"
    own = max((ceil(quota.nodes) for quota in quotas), default=0)
    if quotas and all(quota.is_share for quota in quotas):
        return own, place
    smallest = min((runtime.smallest_job for runtime in runtimes), default=1)
    return max(own, smallest), place


def _largest_job(
    fields: Mapping[str, Any], at: Pointer, usual: tuple[int, Pointer]
) -> tuple[int, Pointer]:
    """Return the nodes of the largest job, and the place that decides it."""
    nodes = fields.get("largestJob", {}).get("nodes")
    return usual if nodes is None else (nodes, at / "largestJob" / "nodes")


def _spaces(
    name: str, fields: Mapping[str, Any], at: Pointer, usual: tuple[int, Pointer]
) -> Iterator[TeamSpace]:
    """Yield the team's own namespace, then the further ones.

    A further namespace inherits what its profile leaves out, but no storage.
    """
    largest = _largest_job(fields, at, usual)
    priorities = tuple(fields.get("priorities", ()))
    named = namespaces(name, fields)
    storage = tuple(sorted(fields.get("storage", {})))
    queues = queue_names(fields, at)
    yield TeamSpace("", at, named[""], *largest, storage, priorities, queues)
    for key, space in sorted(fields.get("spaces", {}).items()):
        nodes, place = _largest_job(space, at / "spaces" / key, largest)
        yield TeamSpace(
            name=key,
            at=at / "spaces" / key,
            namespace=named[key],
            largest_job=nodes,
            largest_job_at=place,
            storage=tuple(sorted(space.get("storage", {}))),
            priorities=tuple(space.get("priorities", priorities)),
            queues=queue_names(space, at / "spaces" / key) if "queues" in space else queues,
        )


def _quotas(
    team: str, fields: Mapping[str, Any], at: Pointer, known: Pools
) -> Resolving[tuple[Quota, ...]]:
    quotas = []
    in_cohort = "cohort" in fields
    for cluster, asked in sorted(fields["quota"].items()):
        pools = yield from find("cluster", cluster, known, (at / cluster).key())
        if pools is None:
            continue
        for name, stated in sorted(asked.items()):
            where = at / cluster / name
            pool = yield from find(f"node pool of cluster {cluster}", name, pools, where.key())
            if pool is not None:
                yield from _stated_twice(name, stated, where)
                quota = _quota(cluster, pool, stated, in_cohort, where)
                quotas.append(replace(quota, withheld=_withheld(team, quota, pool)))
    return tuple(quotas)


def _stated_twice(pool: str, stated: Mapping[str, Any], at: Pointer) -> Iterator[Diagnostic]:
    """Yield that a quota is stated in several units, or in none."""
    units = [unit for unit in Unit if unit in stated]
    if len(units) == 1:
        return
    amounts = " and ".join(unit.counted(stated[unit]) for unit in units)
    amounts = amounts or "no nodes, GPUs or cores"
    yield QUOTA_DEFINED_TWICE.at(at, f"quota of pool `{pool}` has {amounts}")


def _quota(
    cluster: str, pool: Pool, fields: Mapping[str, Any], in_cohort: bool, at: Pointer
) -> Quota:
    unit = next((unit for unit in reversed(Unit) if unit in fields), Unit.NODES)
    own, borrow = fields.get(unit, 0), fields["borrow"]
    # Parts of another kind are less than a node: only `capacity/uneven-share` objects to them.
    per_node = pool.hardware.units(unit) or own + borrow + 1
    lend = fields.get("lend", "all" if in_cohort else "none")
    return Quota(
        cluster=cluster,
        pool=pool.name,
        at=at,
        unit=unit,
        nodes=Fraction(own, per_node),
        borrow=Fraction(borrow, per_node),
        lend=Fraction({"all": own, "none": 0}.get(lend, lend), per_node),
        per_node=per_node,
        term=_term(fields, per_node),
    )


def _withheld(team: str, quota: Quota, pool: Pool) -> Fraction:
    """Return the nodes of its own that a team lacks while nodes are in maintenance."""
    if not pool.in_use.nodes:
        return quota.nodes
    return min(Fraction(pool.taken_from(team), quota.per_node), quota.nodes)


def _term(fields: Mapping[str, Any], per_node: int) -> Term | None:
    """Return the time that a quota is for; None where it has no last day."""
    if "until" not in fields:
        return None
    after = Fraction(fields["then"], per_node)
    return Term(fields["until"], fields["reason"], after)
