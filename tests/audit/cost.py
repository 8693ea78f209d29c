"""Prices, cost centers and quota of the profiles, as the rules write them into series."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from tests.audit.capacity import GPU, left_of, node_of
from tests.audit.tree import Tree

_Facts = dict[tuple[str, ...], Fraction]
"""Name of a series, then its labels -> its value."""


def series_of_cost_follow_the_profiles(tree: Tree) -> Iterator[str]:
    """A team that is missing pays nothing, and nobody sees it."""
    if "monitoring" not in tree.cluster:
        return
    found, expected = dict(_found(tree)), dict(_expected(tree))
    for key in sorted({*found, *expected}):
        if found.get(key) != expected.get(key):
            yield f"{' '.join(key)}: {found.get(key)}, the profiles have {expected.get(key)}"


_NAMES = {
    "trainyard:team:cost_center": ("team", "cost_center"),
    "trainyard:team:promised_nodes": ("team", "pool"),
    "trainyard:pool:node_capacity": ("pool", "resource"),
    "trainyard:pool:node_hour_price": ("pool", "currency"),
}
"""Series -> the labels that tell its series apart."""


def _found(tree: Tree) -> Iterator[tuple[tuple[str, ...], Fraction]]:
    for rules in tree.of("PrometheusRule"):
        for rule in (each for group in rules.spec["groups"] for each in group["rules"]):
            if labels := _NAMES.get(rule.get("record", "")):
                number = rule["expr"].removeprefix("vector(").removesuffix(")").replace(" ", "")
                key = (rule["record"], *(rule["labels"].get(label, "") for label in labels))
                yield key, Fraction(number)


def _expected(tree: Tree) -> Iterator[tuple[tuple[str, ...], Fraction]]:
    center, promised, capacity, price = _NAMES
    for team, profile in tree.teams.items():
        yield (center, team, profile.get("costCenter", "")), Fraction(1)
        for pool, share in profile["quota"][tree.name].items():
            yield (promised, team, pool), left_of(tree, pool, team, share)
    for pool, fields in tree.cluster["pools"].items():
        gpu = tree.hardware_of(pool).get("gpu")
        resource = gpu.get("resource", GPU) if gpu else "cpu"
        yield (capacity, pool, resource), node_of(tree, pool)[resource]
        if "nodeHour" in fields:
            number, currency = fields["nodeHour"].split()
            yield (price, pool, currency), Fraction(number)


AUDITS = (series_of_cost_follow_the_profiles,)
