"""The section with the capacity: a bar for each pool, its teams, and the tree of cohorts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from htpy import Element, Node, code, details, h3, h4, li, p, summary, ul

from trainyard.capacity.figures import Capacity, CohortMembers, Part, PoolCapacity
from trainyard.capacity.wording import (
    balance,
    borrowing,
    job,
    lenders,
    maintenances,
    rows,
    size,
    some,
    stops,
)
from trainyard.report.bars import bar
from trainyard.report.content import Content
from trainyard.report.elements import MANY, badge, grid, items, note, part

_LIMITS = {
    "quota": "its quota",
    "lent nodes": "what others lend",
    "pool": "nodes of the pool",
    "largestJob": "largestJob",
    "maxNodes": "maxNodes of its runtimes",
    "smallest job": "none fits: MPI needs two",
    "runtimes": "no runtime runs here",
    "held": "none: its queue is held",
    "draining": "none: its queue is draining",
}
"""Value that limits the largest job -> words for it."""

_TEAM = (
    *("team", "cohort", "#own", "#lends", "#may borrow"),
    *("#largest job, own", "#largest job, with borrowed", "limited by"),
)


def capacity(content: Content) -> Element:
    """Return the section."""
    return part(
        "capacity",
        "Capacity",
        note(
            "Nodes that the profiles promise to teams, not what jobs use now. In a bar, the line "
            "below a team is the part that it lends."
        ),
        (_cluster(cluster.capacity) for cluster in content.clusters),
    )


def _cluster(figures: Capacity) -> Node:
    return [
        h3[figures.cluster],
        map(partial(_pool, figures.cluster), figures.pools),
        _cohorts(figures) if figures.cohorts else None,
    ]


def _pool(cluster: str, pool: PoolCapacity) -> Node:
    kind = "bad" if pool.head_room < 0 else "warned" if pool.head_room else "fine"
    resources = grid(
        f"Resources of pool {pool.name} of {cluster}",
        ("resource", "#a node", "#promised", "#nominal quota", "#head-room", "used up first"),
        ((code[row.name], *row.figures) for row in rows(pool.resources)),
    )
    return [
        h4[pool.name, " ", badge(kind, balance(pool))],
        p[f"{size(pool)}; hardware {pool.hardware}."],
        (p[f"{line}."] for line in (*stops(pool), *maintenances(pool))),
        bar(pool),
        _folded(f"Teams of {pool.name}", _teams(cluster, pool), len(pool.parts)),
        details[summary[f"Resources of {pool.name}"], resources],
    ]


def _folded(about: str, content: Node, lines: int) -> Node:
    """Return content that is folded when it has many lines."""
    return content if lines <= MANY else details[summary[f"{about} ({lines})"], content]


def _teams(cluster: str, pool: PoolCapacity) -> Node:
    if not pool.parts:
        return p["No team has quota."]
    about = f"Teams of pool {pool.name} of {cluster}, in {pool.unit.plural}"
    return grid(about, _TEAM, map(partial(_team, pool), pool.parts))


def _team(pool: PoolCapacity, part: Part) -> Sequence[Node]:
    return (
        part.team,
        part.cohort,
        pool.units(part.own),
        pool.units(part.lend),
        borrowing(pool, part),
        job(pool, part.own_job),
        job(pool, part.largest_job),
        _LIMITS[part.largest_job.limit],
    )


def _cohorts(figures: Capacity) -> Node:
    names = {cohort.name for cohort in figures.cohorts}
    roots = {cohort.name: cohort for cohort in figures.cohorts if _parent(cohort) not in names}
    in_cycles = [cohort.name for cohort in figures.cohorts if cohort.lineage[-1] not in roots]
    return [
        h4["Cohorts: who lends to whom"],
        note("A team may borrow what is idle from every team below the same root."),
        ul(".tree")[map(partial(_branch, figures), roots.values())],
        items(in_cycles, "tree") if in_cycles else None,
    ]


def _parent(cohort: CohortMembers) -> str:
    return cohort.lineage[1] if len(cohort.lineage) > 1 else ""


def _branch(figures: Capacity, cohort: CohortMembers) -> Element:
    teams = ul[map(partial(_member, figures), cohort.teams)]
    below = [_branch(figures, each) for each in figures.cohorts if _parent(each) == cohort.name]
    return li(".cohort")[
        code[cohort.name],
        _folded("Teams", teams, len(cohort.teams)) if cohort.teams else " (no team)",
        ul[below] if below else None,
    ]


def _member(figures: Capacity, team: str) -> Element:
    lending: list[str] = []
    for pool in figures.pools:
        lending += (_lending(pool, own) for own in pool.parts if own.team == team)
    return li[team, ": ", "; ".join(lending) or "no quota here"]


def _lending(pool: PoolCapacity, part: Part) -> str:
    own = pool.unit.counted(pool.units(part.own))
    words = f"lends {pool.units(part.lend)} of {own} of {pool.name}"
    if not part.borrow:
        return f"{words}, borrows none"
    found = some(lenders(pool, part)) or "nobody lends"
    return f"{words}, may borrow {borrowing(pool, part)} ({found})"
