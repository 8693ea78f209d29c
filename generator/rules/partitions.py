"""Partition keys: what separates teams on InfiniBand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from generator.diagnostics import Diagnostic, Note, Pointer, Rule, Severity
from generator.model.platform import Platform
from generator.model.team import Allocation
from generator.rules._check import Check
from generator.rules._walk import allocated, held

LAST_PARTITION = 0x7FFE
"""Keys have 15 bits; 0x7fff is the default partition, that every port is in, and 0x0000 is none."""

MOST_PARTITIONS = 128
"""Entries of a port's partition table."""

MISSING_ALLOCATION = Rule(
    id="fabric/missing-allocation",
    severity=Severity.ERROR,
    summary="A team with quota on a pool with a fabric holds a partition and addresses of that fabric.",
    why=(
        "Without them the team gets no network attachment: Kueue admits its jobs, and their pods stay in"
        " ContainerCreating because Multus does not find the network."
    ),
    fix="Give it an unused partition and address block in profiles/allocations.yaml.",
)
REVERSED_PARTITIONS = Rule(
    id="fabric/reversed-partitions",
    severity=Severity.ERROR,
    summary="The range of a fabric's partitions begins before it ends.",
    why="No partition lies in such a range, so no team can be given one.",
    fix="Write the lower key first.",
)
RESERVED_PARTITION = Rule(
    id="fabric/reserved-partition",
    severity=Severity.ERROR,
    summary="No team is given, and no fabric hands out, a partition outside 0x0001 to 0x7ffe.",
    why=(
        "0x7fff is the default partition, that every port of the fabric is in: the team could reach, and be reached by,"
        " all others. 0x0000 is no partition, and above 0x7fff stands the membership bit."
    ),
    fix="Take a key from 0x0001 to 0x7ffe.",
)
PARTITION_OUT_OF_RANGE = Rule(
    id="fabric/partition-out-of-range",
    severity=Severity.ERROR,
    summary="A team's partition lies in the range that its fabric hands out.",
    why=(
        "The owner of the subnet manager set other keys aside for others: the team may land among storage or foreign"
        " hosts."
    ),
    fix="Take a key of the range, or agree on a larger one with the owner of the fabric.",
)
PARTITION_GIVEN_TWICE = Rule(
    id="fabric/partition-given-twice",
    severity=Severity.ERROR,
    summary="No two teams of a fabric hold the same partition, retired ones included.",
    why="Both teams are in one partition: RDMA passes between them, and no NetworkPolicy sees it.",
    fix="Give the newer team a partition that nobody ever held.",
)
TOO_MANY_PARTITIONS = Rule(
    id="fabric/too-many-partitions",
    severity=Severity.ERROR,
    summary="At most 128 teams hold partitions of one fabric.",
    why=(
        "A port's table has 128 entries: the key of the next team can't be set, and its jobs find no path (NCCL times"
        " out)."
    ),
    fix="Spread the teams over two fabrics, or retire those that are gone.",
)


def missing_allocation(platform: Platform) -> Iterator[Diagnostic]:
    """Look for an entry for each team and fabric that its pools are on."""
    for site in platform.sites:
        for tenant in site.tenants:
            for flavor in held(tenant):
                fabric = flavor.pool.fabric
                if fabric and (site.name, fabric.name, tenant.name) not in platform.allocations:
                    message = (
                        f"team {tenant.name} has quota on fabric `{fabric.name}` of {site.name}, but no partition there"
                    )
                    where = platform.allocations_at / site.name / fabric.name
                    notes = [Note("its entry is missing here", where)]
                    yield MISSING_ALLOCATION.at(flavor.quota.at.key(), message, notes=notes)


def reversed_partitions(platform: Platform) -> Iterator[Diagnostic]:
    """Find ranges that end before they begin."""
    for _, fabric, _ in allocated(platform):
        if fabric.first_partition > fabric.last_partition:
            message = (
                f"the range begins with {_key(fabric.first_partition)} and ends with {_key(fabric.last_partition)}"
            )
            yield REVERSED_PARTITIONS.at(fabric.at / "partitions", message)


def reserved_partition(platform: Platform) -> Iterator[Diagnostic]:
    """Look at both ends of each range and at what each team holds."""
    for _, fabric, holders in allocated(platform):
        found: list[tuple[int, Pointer]] = [
            (key, fabric.at / "partitions")
            for key in (fabric.first_partition, fabric.last_partition)
            if _is_reserved(key)
        ]
        found += [(each.partition, each.at / "partition") for _, each in holders if _is_reserved(each.partition)]
        for key, at in found:
            yield RESERVED_PARTITION.at(at, f"partition {_key(key)} is reserved; teams may have 0x0001 to 0x7ffe")


def partition_out_of_range(platform: Platform) -> Iterator[Diagnostic]:
    """Compare what each team holds with the fabric's range; reserved keys are told of by their own rule."""
    for _, fabric, holders in allocated(platform):
        first, last = fabric.first_partition, fabric.last_partition
        for team, each in holders:
            if first <= last and not first <= each.partition <= last and not _is_reserved(each.partition):
                message = f"partition {_key(each.partition)} of team {team} is not in {_key(first)} to {_key(last)}"
                notes = [Note(f"the range of fabric `{fabric.name}`", fabric.at / "partitions")]
                yield PARTITION_OUT_OF_RANGE.at(each.at / "partition", message, notes=notes)


def partition_given_twice(platform: Platform) -> Iterator[Diagnostic]:
    """Find keys with two holders; the one that comes first by name is the note."""
    for _, fabric, holders in allocated(platform):
        known: dict[int, tuple[str, Allocation]] = {}
        for team, each in holders:
            first, other = known.setdefault(each.partition, (team, each))
            if first != team:
                message = (
                    f"teams {first} and {team} both hold partition {_key(each.partition)} of fabric `{fabric.name}`"
                )
                notes = [Note(f"held by {first}", other.at / "partition")]
                yield PARTITION_GIVEN_TWICE.at(each.at / "partition", message, notes=notes)


def too_many_partitions(platform: Platform) -> Iterator[Diagnostic]:
    """Count the holders of each fabric; a retired team's key is no longer in any port's table."""
    retired = {team.name for team in platform.teams if team.state == "retired"}
    counts = Counter((cluster, fabric) for cluster, fabric, team in platform.allocations if team not in retired)
    for (cluster, fabric), count in sorted(counts.items()):
        if count > MOST_PARTITIONS:
            message = f"{count} teams hold partitions of fabric `{fabric}`; a port holds {MOST_PARTITIONS}"
            yield TOO_MANY_PARTITIONS.at((platform.allocations_at / cluster / fabric).key(), message)


def _is_reserved(key: int) -> bool:
    return not 0 < key <= LAST_PARTITION


def _key(number: int) -> str:
    return f"0x{number:04x}"


CHECKS = (
    Check(MISSING_ALLOCATION, missing_allocation),
    Check(REVERSED_PARTITIONS, reversed_partitions),
    Check(RESERVED_PARTITION, reserved_partition),
    Check(PARTITION_OUT_OF_RANGE, partition_out_of_range),
    Check(PARTITION_GIVEN_TWICE, partition_given_twice),
    Check(TOO_MANY_PARTITIONS, too_many_partitions),
)
