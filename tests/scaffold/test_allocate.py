from __future__ import annotations

from ipaddress import IPv4Network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard.diagnostics import Pointer
from trainyard.model.fabric import RailFabric
from trainyard.model.link import INFINIBAND, LINKS, ROCE, Link
from trainyard.model.providers import PROVIDERS
from trainyard.model.team import Allocation
from trainyard.scaffold.allocate import next_block, next_segment

_AT = Pointer("x.yaml")
_NOWHERE = IPv4Network("192.0.2.0/24")
_KEYS = st.one_of(st.integers(0, 12), st.integers(0x7FF5, 0x800C), st.integers(0xFFF5, 0xFFFF))
_HELD = st.sets(
    st.builds(lambda key, member: key | member, st.integers(0, 12), st.sampled_from([0, 0x8000]))
)
_TAGS = st.one_of(st.integers(0, 12), st.integers(4080, 4095))
_BLOCKS = st.integers(20, 30).flatmap(
    lambda length: st.integers(0, 2**12 - 1).map(
        lambda offset: IPv4Network((int(IPv4Network("10.0.0.0/20")[offset]), length), strict=False)
    )
)


def _fabric(
    first: int = 1,
    last: int = 9,
    addresses: str = "10.0.0.0/22",
    block: int = 24,
    link: Link = INFINIBAND,
) -> RailFabric:
    provider, network = PROVIDERS[link.name], IPv4Network(addresses)
    return RailFabric("fast", _AT, provider, link, first, last, network, block, 0, -1, "ib")


@given(_KEYS, _KEYS, st.one_of(_HELD, st.sets(_KEYS)))
def test_partition_is_the_lowest_one_that_is_free(first: int, last: int, taken: set[int]) -> None:
    """It is valid, in the range, not the default and free under either membership bit, or None."""
    held = [Allocation(_AT, key, _NOWHERE) for key in sorted(taken)]
    used = {key & 0x7FFF for key in taken} | {0, 0x7FFF}
    free = [key for key in range(first, last + 1) if key <= 0x7FFF and key not in used]
    assert next_segment(_fabric(first, last), held) == min(free, default=None)


@given(_TAGS, _TAGS, st.sets(_TAGS))
def test_vlan_is_the_lowest_one_that_is_free(first: int, last: int, taken: set[int]) -> None:
    """It is in the range, free, tagged, and neither reserved nor the switches' own, or None."""
    held = [Allocation(_AT, tag, _NOWHERE) for tag in sorted(taken)]
    free = [tag for tag in range(first, last + 1) if tag not in taken | {0, 1, 4095}]
    assert next_segment(_fabric(first, last, link=ROCE), held) == min(free, default=None)


@given(st.lists(_BLOCKS, max_size=12), st.integers(21, 25))
def test_block_is_inside_the_range_and_meets_nobody(taken: list[IPv4Network], length: int) -> None:
    """It is the lowest block of its length in which no allocation has an address, or there is
    none."""
    held = [Allocation(_AT, 1, network) for network in taken]
    fabric = _fabric(addresses="10.0.0.0/21", block=length)
    free = [
        block
        for block in IPv4Network("10.0.0.0/21").subnets(new_prefix=length)
        if not any(block.overlaps(network) for network in taken)
    ]
    assert next_block(fabric, held) == min(free, default=None)


@pytest.mark.parametrize("link", LINKS.values(), ids=lambda link: link.name)
@given(st.integers(2, 9))
def test_allocations_in_a_row_differ_until_the_range_is_exhausted(link: Link, last: int) -> None:
    """Each of as many teams as fit gets numbers of its own, and the next gets none."""
    fabric = _fabric(1, last, link=link)
    held: list[Allocation] = []
    while (segment := next_segment(fabric, held)) and (block := next_block(fabric, held)):
        held.append(Allocation(_AT, segment, block))
    assert len(held) == min(last - link.first + 1, 4)
    assert len({one.segment for one in held}) == len({one.addresses for one in held}) == len(held)


def test_block_larger_than_the_range_is_never_given() -> None:
    """A range that can't hold one block has none."""
    assert next_block(_fabric(addresses="10.0.0.0/25", block=24), []) is None
