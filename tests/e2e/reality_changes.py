"""Random changes of a platform with four teams, as its administrators make them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.e2e.setup import CLUSTER, FILE, over

Changes = dict[str, Any]
"""Changes of the cases' base, by profile."""

Kind = Callable[[Changes, random.Random], Changes]

TEAMS = ("nlp", "vision", "audio", "robot")
POOL = "dgx-h100"
_ALLOCATED = {
    "audio": {"partition": "0x0103", "addresses": "10.64.32.0/20"},
    "robot": {"partition": "0x0104", "addresses": "10.64.48.0/20"},
}
_SECOND = "openmpi-next"
_RANGES = ("198.51.100.0/24", "198.51.100.0/26", "192.0.2.0/25", "203.0.113.0/28")
_LIBRARIES = {"openmpi": None, "torch": "2.6.0"}
_UNTIL = "2099-12-31"
_MOST = 8
"""Nodes of the largest job of the base's runtime."""


def _quota(nodes: int, borrow: int = 0, lend: int | None = None) -> Changes:
    """Return a quota, all of which one job may use."""
    pool = {"nodes": nodes, "borrow": borrow, "lend": lend}
    return {"quota": {CLUSTER: {POOL: pool}}, "largestJob": {"nodes": min(nodes + borrow, _MOST)}}


def _newcomer(name: str, **more: Any) -> Changes:
    """Return a team that the cases' base does not have."""
    groups = {"user": [name], "admin": [f"{name}-leads"]}
    known = {"contact": f"{name}@example.com", "groups": groups, "runtimes": ["openmpi-cuda"]}
    return {**known, "storage": {"home": "1Ti"}, **more}


def file_of(team: str) -> str:
    """Return the profile of a team."""
    return f"teams/{team}.yaml"


def base() -> Changes:
    """Return the first platform: cohorts of three levels, and quotas that are lent within them."""
    cohorts = {"org": {}, "research": {"parent": "org"}, "product": {"parent": "org"}}
    return {
        FILE: {
            "pools": {POOL: {"nodes": 22, "reserve": 2}},
            "cohorts": {**cohorts, "lab": {"parent": "product"}},
            "external": {"Metrics/apiserver": "me", "Namespace/mlflow": "me"},
        },
        "allocations.yaml": {CLUSTER: {"ib": _ALLOCATED}},
        # Its smallest job has one node, that of MPI two.
        "runtimes/openmpi-cuda.yaml": {"launcher": "torchrun", "libraries": _LIBRARIES},
        f"runtimes/{_SECOND}.yaml": _runtime(1),
        file_of("nlp"): {**_quota(4, 2), "runtimes": ["openmpi-cuda", _SECOND]},
        file_of("vision"): _quota(4, 1, 2),
        file_of("audio"): _newcomer("audio", cohort="product", **_quota(3, 4)),
        file_of("robot"): _newcomer("robot", cohort="lab", **_quota(3, 1, 3)),
    }


def _runtime(version: int) -> Changes:
    digest = f"{version:x}".zfill(64)
    return {
        "version": version,
        "displayName": "Open MPI, next",
        "docs": "https://docs.example.com/ml/next",
        "image": f"registry.example.com/ml/next@sha256:{digest}",
        "pullSecret": "registry-pull",
        "launcher": "torchrun",
        "libraries": {"torch": "2.6.0", "cuda": "12.6"},
        "hardware": [POOL],
        "maxNodes": _MOST,
    }


def _held(state: Changes, team: str) -> dict[str, Any]:
    """Return the quota of a team."""
    return dict(state[file_of(team)]["quota"][CLUSTER][POOL])


def _requota(state: Changes, team: str, **more: Any) -> Changes:
    return {file_of(team): _quota(**{**_held(state, team), **more})}


def quota(state: Changes, order: random.Random) -> Changes:
    """One team gets other nodes, or gives some to another."""
    giver, taker = order.sample(TEAMS, 2)
    moved = order.randint(1, 3)
    less = _requota(state, giver, nodes=max(1, _held(state, giver)["nodes"] - moved))
    more = _requota(state, taker, nodes=_held(state, taker)["nodes"] + moved)
    return order.choice([less, {**less, **more}, {**less, **more}])


def borrowing(state: Changes, order: random.Random) -> Changes:
    """A team may borrow more or less."""
    return _requota(state, order.choice(TEAMS), borrow=order.randint(0, 4))


def lending(state: Changes, order: random.Random) -> Changes:
    """A team lends more or less."""
    return _requota(state, order.choice(TEAMS), lend=order.choice([0, 0, 1, 2, None]))


def cohort(state: Changes, order: random.Random) -> Changes:
    """A team goes to another cohort, or to none, where it borrows nothing."""
    team = order.choice(TEAMS)
    chosen = order.choice(["research", "product", "lab", "org", None])
    own = _requota(state, team, lend=None, **({} if chosen else {"borrow": 0}))
    return over(own, {file_of(team): {"cohort": chosen}})  # type: ignore[no-any-return]


def parent(_state: Changes, order: random.Random) -> Changes:
    """A cohort goes below another, or to the top."""
    name, above = order.sample(["research", "product", "lab", "org"], 2)
    return {FILE: {"cohorts": {name: {"parent": order.choice([above, "org", None])}}}}


def priority(_state: Changes, order: random.Random) -> Changes:
    """A priority gets another value, which may pass that of another."""
    name = order.choice(["batch", "production"])
    return {FILE: {"priorities": {name: order.choice([300, 500, 700, 1000, 1500])}}}


def priorities(state: Changes, order: random.Random) -> Changes:
    """A priority comes or goes, or a team may use others."""
    known = state[FILE].get("priorities", {})
    urgent = {FILE: {"priorities": {"urgent": None if known.get("urgent") else 2000}}}
    some = order.choice([["batch"], ["batch", "production"], None])
    return order.choice([urgent, {file_of(order.choice(TEAMS)): {"priorities": some}}])


def groups(_state: Changes, order: random.Random) -> Changes:
    """A role of a team gets other groups."""
    team, role = order.choice(TEAMS), order.choice(["user", "viewer", "admin"])
    first = {"user": team, "viewer": f"{team}-guests", "admin": f"{team}-leads"}[role]
    some = order.choice([[first], [first, f"{team}-{role}-more"], [f"{team}-{role}-more"]])
    gone = {"viewer": None} if order.random() < 0.3 else {role: some}
    return {file_of(team): {"groups": gone}}


def rights(_state: Changes, order: random.Random) -> Changes:
    """Accounts, debuggers, writers of runtimes or people of the platform come or go."""
    team = file_of(order.choice(TEAMS))
    accounts = order.choice([None, {"nightly": {"role": order.choice(["viewer", "user"])}}])
    debuggers = {"groups": ["experts"], "until": "2026-12-31", "reason": "a hang"}
    people = order.choice([["ml-platform"], ["ml-platform", "sre"]])
    return order.choice(
        [
            {team: {"serviceAccounts": accounts}},
            {team: {"debuggers": order.choice([None, debuggers])}},
            {team: {"ownRuntimes": order.choice([None, 2])}},
            {FILE: {"roles": {order.choice(["operator", "auditor"]): people}}},
        ]
    )


def spaces(_state: Changes, order: random.Random) -> Changes:
    """A team gets a further namespace, or would give all up."""
    some: Changes = {order.choice(["eval", "dev", "demo"]): {}}
    return {file_of(order.choice(TEAMS)): {"spaces": order.choice([None, some, some, some])}}


def egress(_state: Changes, order: random.Random) -> Changes:
    """Pods reach more or less outside."""
    ports = order.choice([[443], [443, 8443], [8443]])
    to = order.sample(_RANGES, order.randint(1, 2))
    rule = {"to": to, "ports": ports, "from": order.choice(["all", "jobs", "workspaces"])}
    service = {"namespaces": ["mlflow"], "ports": [5000]}
    store = {"to": [order.choice(["203.0.113.0/28", "203.0.113.0/29"])]}
    return {
        FILE: {
            "egress": order.choice(
                [
                    {"mirror": order.choice([None, rule, rule])},
                    {"tracking": order.choice([None, service])},
                    {"object-store": {**store, "from": order.choice(["all", "jobs"])}},
                ]
            )
        }
    }


def ports(_state: Changes, order: random.Random) -> Changes:
    """The jobs of a team are scraped, or run as MPIJobs, or no more."""
    team = file_of(order.choice(TEAMS))
    scraped = {team: {"metrics": order.choice([None, 9000, 9001])}}
    until = order.choice([None, {CLUSTER: {"until": _UNTIL}}])
    return order.choice([scraped, {team: {"mpiJobs": until}}])


def storage(_state: Changes, order: random.Random) -> Changes:
    """A team's storage grows, shrinks, comes or goes."""
    team = file_of(order.choice(TEAMS))
    size = order.choice([None, *(f"{each}Ti" for each in range(10, 70, 10))])
    return {team: {"storage": {order.choice(["scratch", "scratch", "home"]): size}}}


def runtime(state: Changes, order: random.Random) -> Changes:
    """A runtime gets another version or image, or a team gets or loses it."""
    file, team = f"runtimes/{_SECOND}.yaml", file_of(order.choice(TEAMS))
    version = state[file]["version"]
    lists = order.choice([["openmpi-cuda"], ["openmpi-cuda", _SECOND]])
    newer = {file: _runtime(version + 1)}
    in_place = {file: {"image": _runtime(version + 100)["image"]}}
    return order.choice([newer, newer, {team: {"runtimes": lists}}, in_place])


def pool(_state: Changes, order: random.Random) -> Changes:
    """The pool has more or fewer nodes, in use or in reserve."""
    nodes, reserve = order.randint(20, 24), order.randint(1, 3)
    out = {"nodes": [f"{POOL}-022"], "until": _UNTIL, "reason": "a fan"}
    maintenance = {"maintenance": order.choice([None, [out]])}
    return {
        FILE: {"pools": {POOL: order.choice([{"nodes": nodes, "reserve": reserve}, maintenance])}}
    }


def drained(state: Changes, order: random.Random) -> Changes:
    """A team is drained, or taken back."""
    held = [team for team in TEAMS if state[file_of(team)].get("state") == "draining"]
    if held:
        return {file_of(held[0]): {"state": None}}
    return {file_of(order.choice(TEAMS)): {"state": "draining"}}


KINDS: Mapping[str, Kind] = {
    each.__name__: each
    for each in (
        *(quota, borrowing, lending, cohort, parent, priority, priorities, groups, rights),
        *(spaces, egress, ports, storage, runtime, pool, drained),
    )
}


def kinds(order: random.Random) -> Iterator[str]:
    """Yield kinds of changes without end, each as often as the others, in a random order.

    A team that is drained is taken back at once: while it claims nothing, others keep its nodes.
    """
    while True:
        for kind in order.sample(sorted(KINDS), len(KINDS)):
            yield kind
            if kind == drained.__name__:
                yield kind
