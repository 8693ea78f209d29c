"""Quota in nodes, GPUs and cores, expanded to every resource of a node, against exact fractions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tests.audit.capacity import amount
from tests.model.shapes import base_queue, fabric, launch, nodes, pool, quota
from trainyard.model.hardware import Hardware
from trainyard.model.pool import Pool
from trainyard.model.queue import Flavor, Queue
from trainyard.model.team import Quota
from trainyard.model.unit import Unit
from trainyard.render.views.queue import QueueView

IB = fabric()
SHARED_NODES = st.integers(0, 8).flatmap(nodes)
NODES = st.integers(0, 500)


@st.composite
def shared(draw: st.DrawFn) -> tuple[Pool, list[int]]:
    """A pool, and parts of several teams that one of its nodes has room for; it has a function for
    each pod."""
    hardware = draw(SHARED_NODES)
    parts = hardware.units(hardware.parts)
    hardware = replace(hardware, virtual_functions=draw(st.integers(parts, max(parts, 127))))
    cuts = sorted({0, parts, *draw(st.lists(st.integers(0, parts)))})
    return pool(hardware, IB), [end - begin for begin, end in pairwise(cuts)]


def nominal(each: Pool, held: Quota) -> dict[str, Fraction]:
    """Return the nominal quota of everything that a pool gives, as exact numbers in base units."""
    flavor = Flavor(each, held)
    return base_units(
        {resource.name: resource.nodes for resource in flavor.resources(tuple(each.allocatable))}
    )


def base_units(quantities: Mapping[str, str]) -> dict[str, Fraction]:
    """Return quantities as the model counts: cpu in thousandths."""
    return {
        name: amount(text) * (1000 if name == "cpu" else 1) for name, text in quantities.items()
    }


def part(each: Pool, own: int) -> Quota:
    """Return a quota of a part of a node, in its own unit."""
    unit = each.hardware.parts
    return quota(unit, own, each.hardware.units(unit))


@given(nodes(), NODES, NODES, NODES)
def test_quota_in_nodes_is_that_many_nodes(
    hardware: Hardware, own: int, borrow: int, lend: int
) -> None:
    """Each limit counts whole nodes of every resource, so no admitted gang lacks one resource."""
    each = pool(hardware, IB)
    resources = Flavor(each, quota("nodes", own, 1, borrow, lend)).resources(
        tuple(each.allocatable)
    )

    for field, count in (("nodes", own), ("borrow", borrow), ("lend", lend)):
        amounts = base_units({resource.name: getattr(resource, field) for resource in resources})
        assert amounts == {name: count * amount for name, amount in each.allocatable.items()}


@given(shared())
def test_quota_in_parts_is_that_part_of_every_resource(case: tuple[Pool, list[int]]) -> None:
    """A share is in proportion, rounded down to what can be counted and never further; GPUs are
    exact."""
    each, teams = case
    for number in teams:
        exact = {
            name: Fraction(allocatable * number, each.hardware.units(each.hardware.parts))
            for name, allocatable in each.allocatable.items()
        }
        own = nominal(each, part(each, number))

        assert own.get("nvidia.com/gpu", 0) == (number if each.hardware.gpu else 0)
        assert all(0 <= exact[name] - own[name] < 1 for name in exact)


@given(shared())
def test_shares_of_one_node_are_at_most_that_node(case: tuple[Pool, list[int]]) -> None:
    """Whoever divides a node by its GPUs or cores has divided each resource, and promised
    nothing twice."""
    each, teams = case
    shares = [nominal(each, part(each, number)) for number in teams]

    assert sum(share.get("nvidia.com/gpu", 0) for share in shares) == each.hardware.gpus
    assert all(
        sum(share[name] for share in shares) <= allocatable
        for name, allocatable in each.allocatable.items()
    )


@given(shared(), st.integers(1, 2))
def test_job_on_a_share_fits_the_quota(case: tuple[Pool, list[int]], pods: int) -> None:
    """A job of equal parts, as many as make the share, is admitted: no resource is lost by
    rounding."""
    each, teams = case
    for number in (number for number in teams if number % pods == 0):
        held = part(each, number)
        asked = launch(each.hardware, on=IB, part=held.nodes / pods).per_node

        own = nominal(each, held)
        assert {name: number for name, number in asked.items() if number * pods > own[name]} == {}


@given(st.sampled_from(Unit), NODES, NODES, NODES, st.integers(1, 16))
def test_maximum_is_own_nodes_and_borrowed_ones(
    unit: Unit, own: int, borrow: int, lend: int, per_node: int
) -> None:
    """A quota is exact in nodes, whatever the unit in which the profile states it."""
    held = quota(unit, own, per_node, borrow, lend)

    stated = [held.units(each) for each in (held.nodes, held.borrow, held.lend)]
    assert stated == [own, borrow, lend]
    assert held.maximum == held.nodes + held.borrow
    assert held.is_share is (unit is not Unit.NODES)
    assert held.display(held.nodes) == f"{own} {unit.noun}{'s' * (own != 1)}"


QUEUES = st.lists(st.tuples(nodes(), st.booleans(), NODES), min_size=1, max_size=4)
"""Kinds of node, whether they are on a fabric, and a team's own."""


def queue(pools: list[tuple[Hardware, bool, int]]) -> Queue:
    """Return the queue of a team over some pools."""
    flavors = (
        Flavor(pool(hardware, IB if attached else None, name=f"p{i}"), quota("nodes", own, 1))
        for i, (hardware, attached, own) in enumerate(pools)
    )
    return replace(base_queue(), flavors=tuple(flavors))


@given(QUEUES)
def test_queue_covers_what_any_of_its_flavors_gives(
    pools: list[tuple[Hardware, bool, int]],
) -> None:
    """Kueue's webhook wants every flavor to list all covered resources, in one order; what a node
    lacks is 0."""
    each = queue(pools)
    allocatable = {flavor.name: flavor.pool.allocatable for flavor in each.flavors}

    assert list(each.covered) == sorted(set().union(*allocatable.values()))
    for flavor in QueueView(each).quotas:
        assert [resource.name for resource in flavor.resources] == list(each.covered)
        lacking = {
            resource.name: resource
            for resource in flavor.resources
            if resource.name not in allocatable[flavor.name]
        }
        assert all((one.nodes, one.borrow, one.lend) == ("0", "0", "0") for one in lacking.values())


@given(QUEUES)
def test_queue_tries_flavors_in_its_own_order(pools: list[tuple[Hardware, bool, int]]) -> None:
    """The order is that of preference; with several a job takes own nodes of the next before it
    borrows."""
    each = queue(pools)

    assert [flavor.name for flavor in QueueView(each).quotas] == [
        f"p{i}" for i in range(len(pools))
    ]
    assert QueueView(each).when_can_borrow == (
        "TryNextFlavor" if len(pools) > 1 else "MayStopSearch"
    )


@given(QUEUES)
def test_flavor_gives_the_same_in_whatever_queue(pools: list[tuple[Hardware, bool, int]]) -> None:
    """Beside other kinds of node a pool's quota stays what it is alone."""
    together = {flavor.name: flavor.resources for flavor in QueueView(queue(pools)).quotas}

    for i, flavor in enumerate(queue(pools).flavors):
        alone = flavor.resources(tuple(flavor.pool.allocatable))
        assert [each for each in together[f"p{i}"] if each.name in flavor.pool.allocatable] == list(
            alone
        )
