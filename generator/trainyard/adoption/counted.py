"""List the resources that the tree's queues count and the site's did not, with what jobs ask."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from trainyard.adoption.amounts import shown
from trainyard.adoption.fabrics import Drafted
from trainyard.adoption.model import Crew, Mark, Pool, Remark, Share
from trainyard.adoption.outside import maker
from trainyard.adoption.quota import Site
from trainyard.adoption.sizes import SHARES, requests
from trainyard.model.facts import Body, Facts
from trainyard.model.importable import WORKLOADS
from trainyard.model.lookup import mapping, mappings
from trainyard.model.workload import is_finished

_MEANING = Remark(
    Mark.CHANGED,
    "Resources newly counted",
    "amounts are quotas with what a team may borrow. A TrainJob asks for what its runtime states; "
    "a job of another kind without a request counts 0, and one that asks for more never starts",
)
_MOST = 1_000_000
"""Pods of a set that are counted."""


@dataclass(frozen=True, slots=True)
class _Job:
    """A job that has quota or waits for it.

    Args:
        name: kind, namespace and name.
        asks: of all its pods, in base units.
    """

    name: str
    asks: Mapping[str, int]


def newly_counted(
    site: Site, shares: Sequence[Share], fabrics: Sequence[Drafted], facts: Facts
) -> Iterator[Remark]:
    """Yield what each team's queues newly count, and each job that asks for more than its quota.

    What jobs ask is compared where the team has one pool, and its quota there is decided.

    Raises:
        TreeError: a request is not a quantity.
    """
    every = _jobs(facts)
    for crew in site.crews:
        own = [share for share in shares if share.team == crew.name]
        jobs = _of_crew(crew, every) if len(own) == 1 else []
        for share in own:
            pool = site.pools[share.pool]
            parts = [*_parts(site, crew, share, jobs), *_rails(site, crew, pool, fabrics)]
            if parts:
                why = f"newly counted on {pool.name}: {', '.join(parts)}"
                yield Remark(Mark.CHANGED, f"team {crew.name}", why)
                yield _MEANING
            yield from _too_large(pool, share, jobs)


def _counted(pool: Pool) -> list[str]:
    """Return the resources that a queue of the tree counts on any pool, and the GPUs."""
    return list(dict.fromkeys([*SHARES.values(), "pods", pool.counted]))


def _parts(site: Site, crew: Crew, share: Share, jobs: Sequence[_Job]) -> Iterator[str]:
    """Yield each resource that no queue of a team counts, with the quota and what jobs ask."""
    pool = site.pools[share.pool]
    before = {cell.resource for cell in site.cells(crew, pool)}
    for resource in _counted(pool):
        if resource in before:
            continue
        limit = shown(resource, _limit(resource, pool, share))
        asked = shown(resource, sum(job.asks.get(resource, 0) for job in jobs))
        amount = f"its jobs ask {asked} of {limit}" if jobs else limit
        yield resource if share.own is None else f"{resource} ({amount})"


def _rails(site: Site, crew: Crew, pool: Pool, fabrics: Sequence[Drafted]) -> Iterator[str]:
    """Yield the ports of a fabric, where the site's queues count no device beside the GPUs."""
    devices = {cell.resource for cell in site.cells(crew, pool) if "/" in cell.resource}
    if not devices - {pool.counted}:
        yield from (
            f"the rails of fabric {each.name}" for each in fabrics if pool.name in each.pools
        )


def _limit(resource: str, pool: Pool, share: Share) -> int:
    """Return what the jobs of a team have at most, with what it may borrow."""
    nodes = ((share.own or 0) + share.borrow) * share.part
    return int(nodes * pool.per_node.get(resource, 0))


def _too_large(pool: Pool, share: Share, jobs: Sequence[_Job]) -> Iterator[Remark]:
    """Yield the jobs that no quota of the team admits; none where its quota is a choice."""
    for job in () if share.open else jobs:
        for resource in _counted(pool):
            asks, limit = job.asks.get(resource, 0), _limit(resource, pool, share)
            if asks > limit:
                why = (
                    f"it asks for {shown(resource, asks)} {resource}, and team {share.team} has "
                    f"{shown(resource, limit)} on {pool.name}, with what it may borrow: it never "
                    "starts there"
                )
                yield Remark(Mark.REFUSED, job.name, why)


def _of_crew(crew: Crew, every: Mapping[str, Sequence[_Job]]) -> list[_Job]:
    return [job for namespace in crew.namespaces for job in every.get(namespace, ())]


def _jobs(facts: Facts) -> dict[str, list[_Job]]:
    """Return the jobs that run and that wait by namespace, by their Workloads."""
    found: dict[str, list[_Job]] = defaultdict(list)
    for body in facts.of(WORKLOADS):
        namespace, kind, name = maker(body)
        if not is_finished(body) and mapping(dict(body), "spec").get("active") is not False:
            found[namespace].append(_Job(f"{kind} {namespace}/{name}", _asks(body)))
    return found


def _named(body: Body) -> Body:
    return {"kind": body["kind"], "metadata": body["metadata"]}


def _asks(body: Body) -> Counter[str]:
    """Return what all pods of a Workload request."""
    found: Counter[str] = Counter()
    for each in mappings(dict(body), "spec", "podSets"):
        count = each.get("count")
        pods = min(count, _MOST) if type(count) is int and count > 0 else 1
        asked = requests({**mapping(each, "template"), **_named(body)})
        found.update({name: amount * pods for name, amount in asked.items()}, pods=pods)
    return found
