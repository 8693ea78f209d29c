"""Partitions and VLANs: what separates teams on a fabric."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Pointer, Rule, Severity
from trainyard.model.link import Link
from trainyard.model.platform import Platform
from trainyard.model.team import Allocation
from trainyard.rules._check import Check
from trainyard.rules._walk import allocated, held

MISSING_ALLOCATION = Rule(
    id="fabric/missing-allocation",
    severity=Severity.ERROR,
    summary="A team with quota on a pool with a fabric holds a partition or VLAN and addresses of that fabric.",
    why=(
        "Without them the team gets no network attachment: Kueue admits its jobs, and their pods stay in"
        " ContainerCreating because Multus does not find the network."
    ),
    fix="Restore its line in profiles/allocations.yaml, or write one with numbers that no team ever had.",
)
REVERSED_PARTITIONS = Rule(
    id="fabric/reversed-partitions",
    severity=Severity.ERROR,
    summary="The range of a fabric's partitions or VLANs begins before it ends.",
    why="Nothing lies in such a range, so no team can be given a partition or VLAN.",
    fix="Write the lower number first.",
)
RESERVED_PARTITION = Rule(
    id="fabric/reserved-partition",
    severity=Severity.ERROR,
    summary="No team holds, and no fabric hands out, a partition outside 0x0001 to 0x7ffe or a VLAN outside 2 to 4094.",
    why=(
        "0x7fff is the default partition, that every port of the fabric is in: the team could reach, and be reached by,"
        " all others. 0x0000 is no partition, and above 0x7fff stands the membership bit. VLAN 0 is untagged, 1 is"
        " where switches put what has no tag, and 4095 is reserved."
    ),
    fix="Take a key from 0x0001 to 0x7ffe, or a VLAN from 2 to 4094.",
)
PARTITION_OUT_OF_RANGE = Rule(
    id="fabric/partition-out-of-range",
    severity=Severity.ERROR,
    summary="A team's partition or VLAN lies in the range that its fabric hands out.",
    why=(
        "The owner of the fabric set others aside for others, or the switches don't carry it: the team may land among"
        " storage or foreign hosts, or its ranks find no path."
    ),
    fix="Take one of the range, or agree on a larger range with the owner of the fabric.",
)
PARTITION_GIVEN_TWICE = Rule(
    id="fabric/partition-given-twice",
    severity=Severity.ERROR,
    summary="No two teams of a fabric hold the same partition or VLAN, retired ones included.",
    why="Both teams are on one network: RDMA passes between them, and no NetworkPolicy sees it.",
    fix="Give the newer team one that nobody ever held.",
)
TOO_MANY_PARTITIONS = Rule(
    id="fabric/too-many-partitions",
    severity=Severity.ERROR,
    summary="At most 128 teams hold partitions of one InfiniBand fabric.",
    why=(
        "A port's table has 128 entries: the key of the next team can't be set, and its jobs find no path (NCCL times"
        " out)."
    ),
    fix="Spread the teams over two fabrics, or retire those that are gone.",
)


def missing_allocation(platform: Platform) -> Iterator[Diagnostic]:
    """Look for an entry for each team and fabric that its pools are on, with what separates teams there."""
    for site in platform.sites:
        for tenant in site.tenants:
            for flavor in held(tenant):
                fabric = flavor.pool.fabric
                if fabric and (site.name, fabric.name, tenant.name) not in platform.allocations:
                    message = (
                        f"team {tenant.name} has quota on fabric `{fabric.name}` of {site.name},"
                        f" but no {fabric.link.segment} there"
                    )
                    where = platform.allocations_at / site.name / fabric.name
                    notes = [Note("its entry is missing here", where)]
                    cause = (
                        f"teams with quota on fabric `{fabric.name}` of {site.name} hold no {fabric.link.segment} there"
                    )
                    yield MISSING_ALLOCATION.at(flavor.quota.at.key(), message, notes=notes, cause=cause)


def reversed_partitions(platform: Platform) -> Iterator[Diagnostic]:
    """Find ranges that end before they begin."""
    for _, fabric, _ in allocated(platform):
        if fabric.first_segment > fabric.last_segment:
            first, last = fabric.link.told(fabric.first_segment), fabric.link.told(fabric.last_segment)
            message = f"the range begins with {first} and ends with {last}"
            yield REVERSED_PARTITIONS.at(fabric.at / fabric.link.ranges, message)


def reserved_partition(platform: Platform) -> Iterator[Diagnostic]:
    """Look at both ends of each range and at what each team holds."""
    for _, fabric, holders in allocated(platform):
        link = fabric.link
        found: list[tuple[int, Pointer]] = [
            (number, fabric.at / link.ranges)
            for number in (fabric.first_segment, fabric.last_segment)
            if _is_reserved(link, number)
        ]
        found += [(each.segment, each.at / link.field) for _, each in holders if _is_reserved(link, each.segment)]
        for number, at in found:
            message = (
                f"{link.segment} {link.told(number)} is reserved;"
                f" teams may have {link.told(link.first)} to {link.told(link.last)}"
            )
            yield RESERVED_PARTITION.at(at, message)


def partition_out_of_range(platform: Platform) -> Iterator[Diagnostic]:
    """Compare what each team holds with the fabric's range; reserved ones are told of by their own rule."""
    for site, fabric, holders in allocated(platform):
        first, last, link = fabric.first_segment, fabric.last_segment, fabric.link
        for team, each in holders:
            if first <= last and not first <= each.segment <= last and not _is_reserved(link, each.segment):
                message = (
                    f"{link.segment} {link.told(each.segment)} of team {team}"
                    f" is not in {link.told(first)} to {link.told(last)}"
                )
                notes = [Note(f"the range of fabric `{fabric.name}`", fabric.at / link.ranges)]
                cause = f"{link.segment}s of teams on fabric `{fabric.name}` of {site.name}"
                cause += f" are not in {link.told(first)} to {link.told(last)}"
                yield PARTITION_OUT_OF_RANGE.at(each.at / link.field, message, notes=notes, cause=cause)


def partition_given_twice(platform: Platform) -> Iterator[Diagnostic]:
    """Find numbers with two holders; the one that comes first by name is the note."""
    for _, fabric, holders in allocated(platform):
        known: dict[int, tuple[str, Allocation]] = {}
        link = fabric.link
        for team, each in holders:
            first, other = known.setdefault(each.segment, (team, each))
            if first != team:
                message = (
                    f"teams {first} and {team} both hold {link.segment} {link.told(each.segment)}"
                    f" of fabric `{fabric.name}`"
                )
                notes = [Note(f"held by {first}", other.at / link.field)]
                yield PARTITION_GIVEN_TWICE.at(each.at / link.field, message, notes=notes)


def too_many_partitions(platform: Platform) -> Iterator[Diagnostic]:
    """Count the holders of each fabric; a retired team's is no longer in any port's table."""
    retired = {team.name for team in platform.teams if team.state == "retired"}
    for site, fabric, holders in allocated(platform):
        count, link = sum(team not in retired for team, _ in holders), fabric.link
        if count > link.most:
            message = f"{count} teams hold {link.segment}s of fabric `{fabric.name}`; a port holds {link.most}"
            yield TOO_MANY_PARTITIONS.at((platform.allocations_at / site.name / fabric.name).key(), message)


def _is_reserved(link: Link, number: int) -> bool:
    return not link.first <= number <= link.last


CHECKS = (
    Check(MISSING_ALLOCATION, missing_allocation, every=("allocations.yaml",)),
    Check(REVERSED_PARTITIONS, reversed_partitions),
    Check(RESERVED_PARTITION, reserved_partition, every=("fabrics",)),
    Check(PARTITION_OUT_OF_RANGE, partition_out_of_range, every=("fabrics",)),
    Check(PARTITION_GIVEN_TWICE, partition_given_twice),
    Check(TOO_MANY_PARTITIONS, too_many_partitions, every=("teams/",)),
)
