"""Technologies of links against their standards, and what follows from them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard.model.link import INFINIBAND, LINKS, ROCE, Link

BITS = st.integers(0, 0xFFFF)


@given(BITS)
def test_partition_that_a_team_may_hold_separates_it(key: int) -> None:
    """A key has 15 bits; all of them set is the partition of every port, none set is none (IBTA,
    P_Key)."""
    alone = key <= 0x7FFF and key not in {0, 0x7FFF}

    assert (INFINIBAND.first <= key <= INFINIBAND.last) is alone


@given(BITS)
def test_vlan_that_a_team_may_hold_separates_it(tag: int) -> None:
    """A tag has 12 bits; 0 is untagged, 1 what switches put untagged frames into, 4095 reserved
    (IEEE 802.1Q)."""
    alone = tag < 1 << 12 and tag not in {0, 1, 0xFFF}

    assert (ROCE.first <= tag <= ROCE.last) is alone


@given(BITS)
def test_segment_is_displayed_as_people_write_it(number: int) -> None:
    """Partition keys are four hexadecimal digits, VLANs are decimal; both come back as the same
    number."""
    assert (len(INFINIBAND.display(number)), int(INFINIBAND.display(number), 16)) == (6, number)
    assert ROCE.display(number) == str(number)
    assert int(ROCE.display(number), 0) == int(INFINIBAND.display(number), 0) == number


@pytest.mark.parametrize("link", LINKS.values(), ids=lambda link: link.name)
def test_port_holds_no_more_segments_than_there_are(link: Link) -> None:
    """What a port can hold at one time is never more than what teams could be given."""
    assert 0 < link.most <= link.last - link.first + 1


def test_link_is_found_by_the_word_of_a_profile() -> None:
    """The words of a fabric's profile, of its range, of an allocation; and what the SR-IOV operator
    calls the link."""
    fields = {name: (each.ranges, each.field, each.sriov_type) for name, each in LINKS.items()}

    assert fields == {
        "infiniband": ("partitions", "partition", "ib"),
        "roce": ("vlans", "vlan", "eth"),
    }


def test_operator_writes_the_networks_of_roce_only() -> None:
    """Its object for InfiniBand has no field for a partition."""
    assert (INFINIBAND.operator_networks, ROCE.operator_networks) == (False, True)


@pytest.mark.parametrize(("link", "mtus"), [(INFINIBAND, (2044, 4092)), (ROCE, (1500, 9216))])
def test_mtu_is_what_the_ports_take(link: Link, mtus: tuple[int, int]) -> None:
    """IPoIB has 4 bytes less than the link's 2048 or 4096; Ethernet goes from its standard to jumbo
    frames."""
    assert link.mtus == mtus
