"""Rules that compare numbers, at and around their limits."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Network
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rules.cases import broken, findings, platform_of
from trainyard.model.link import INFINIBAND
from trainyard.model.platform import Platform
from trainyard.model.version import numbers as version_numbers
from trainyard.rules.fabric.addresses_overlap import find as addresses_overlap
from trainyard.rules.fabric.too_many_partitions import find as too_many_partitions
from trainyard.rules.release.known_bad_pair import RULE as KNOWN_BAD_PAIR
from trainyard.rules.release.untested_version import RULE as UNTESTED_VERSION

CLUSTER, HARDWARE = "clusters/prod-east.yaml", "hardware/dgx-h100.yaml"
NLP, VISION, RUNTIME = "teams/nlp.yaml", "teams/vision.yaml", "runtimes/openmpi-cuda.yaml"
Change = Callable[[int], dict[str, Any]]


def quota(team: str, nodes: int, **more: Any) -> dict[str, Any]:
    return {team: {"quota": {"prod-east": {"dgx-h100": {"nodes": nodes, **more}}}}}


def job(nodes: int, own: int, borrow: int = 0) -> dict[str, Any]:
    (team,) = quota(NLP, own, borrow=borrow).values()
    return {NLP: {**team, "largestJob": {"nodes": nodes}}}


def pool(**fields: Any) -> dict[str, Any]:
    return {CLUSTER: {"pools": {"dgx-h100": fields}}}


def system(**fields: Any) -> dict[str, Any]:
    return {HARDWARE: {"system": fields}}


def allocation(partition: int = 0x0101, addresses: str = "10.64.0.0/20") -> dict[str, Any]:
    line = {"partition": f"0x{partition:04x}", "addresses": addresses}
    return {"allocations.yaml": {"prod-east": {"ib": {"nlp": line}}}}


def ports(gpu: int, count: int = 2) -> dict[str, Any]:
    nics = [{"pci": f"0000:{10 + i}:00.0", "role": "rail", "gpu": i} for i in range(count)]
    nics[-1]["gpu"] = gpu
    return {HARDWARE: {"gpu": {"count": count}, "nics": nics}}


LIMITS: list[tuple[str, Change, list[int], list[int]]] = [
    ("capacity/oversubscribed", lambda n: quota(NLP, n), [5, 100], [0, 1, 3, 4]),
    ("capacity/idle-nodes", lambda n: pool(nodes=n), [10, 11], [8, 9]),
    ("capacity/no-reserve", lambda n: pool(nodes=8 + n, reserve=n), [0], [1, 2]),
    ("capacity/no-reserve", lambda n: pool(nodes=n, reserve=0), [8], [7, 9]),
    ("capacity/borrow-exceeds-lenders", lambda n: quota(NLP, 4, borrow=n), [5, 6], [0, 1, 3, 4]),
    (
        "capacity/borrow-exceeds-lenders",
        lambda n: quota(NLP, 4, borrow=1) | quota(VISION, 4, lend=n),
        [0],
        [1, 4],
    ),
    ("capacity/system-share-exceeds-node", lambda n: system(cpu=n), [223, 224, 225], [1, 16, 222]),
    (
        "capacity/system-share-exceeds-node",
        lambda n: system(memory=f"{n}Gi"),
        [2048, 2049],
        [24, 2047],
    ),
    (
        "capacity/system-share-exceeds-node",
        lambda n: system(ephemeralStorage=f"{n}Gi"),
        [1788, 1789],
        [64, 1787],
    ),
    ("capacity/system-share-exceeds-node", lambda n: system(pods=n), [250, 251], [1, 249]),
    ("capacity/job-exceeds-quota", lambda n: job(n, 4, 2), [7, 8], [2, 5, 6]),
    ("capacity/job-exceeds-quota", lambda n: job(3, n), [2], [0, 1, 3]),
    ("capacity/job-larger-than-pool", lambda n: job(n, 4, 16), [9, 20], [2, 8]),
    ("capacity/job-larger-than-runtime-cap", lambda n: {RUNTIME: {"maxNodes": n}}, [2, 3], [4, 5]),
    ("capacity/smallest-job-does-not-fit", lambda n: job(2, n), [0, 1], [2, 3]),
    ("capacity/smallest-job-does-not-fit", lambda n: job(2, 1, n), [0], [1, 2]),
    (
        "capacity/shared-memory-exceeds-node",
        lambda n: {RUNTIME: {"sharedMemory": f"{n}Gi"}},
        [1952, 1953],
        [1, 1951],
    ),
    (
        "capacity/shared-memory-exceeds-node",
        lambda n: system(memory=f"{n}Gi"),
        [1984, 2047],
        [96, 1983, 2048, 2049],
    ),
    ("scheduling/lend-more-than-owned", lambda n: quota(NLP, 4, lend=n), [5, 6], [0, 1, 4]),
    ("scheduling/job-on-borrowed-nodes", lambda n: job(n, 4, 4), [5, 8, 9], [2, 4]),
    ("scheduling/weight-without-effect", lambda n: _weight("classical", n), [2, 1000], [1]),
    ("scheduling/weight-without-effect", lambda n: _weight("fair", n), [2, 1000], [1]),
    ("fabric/reserved-partition", allocation, [0, 0x7FFF, 0x8000, 0xFFFF], [1, 0x7FFE]),
    (
        "fabric/partition-out-of-range",
        allocation,
        [1, 0xFF, 0x180, 0x7FFE],
        [0, 0x100, 0x17F, 0x7FFF],
    ),
    (
        "fabric/partition-out-of-range",
        lambda n: _range(0x0102, n),
        [0x0102, 0x017F],
        [0x0101, 0x0001],
    ),
    ("fabric/reversed-partitions", lambda n: _range(0x0102, n), [0x0001, 0x0101], [0x0102, 0x0103]),
    ("fabric/partition-given-twice", allocation, [0x0102], [0x0101, 0x0103]),
    (
        "fabric/address-block-too-small",
        lambda n: allocation(addresses=f"10.64.0.0/{n}"),
        [24, 28, 31, 32],
        [20, 23],
    ),
    (
        "fabric/address-block-too-small",
        lambda n: {HARDWARE: {"nic": {"virtualFunctions": n}}},
        [],
        [1, 127],
    ),
    (
        "fabric/address-block-too-small",
        lambda n: allocation(addresses="10.64.0.0/24") | _three(n),
        [11, 12],
        [1, 10],
    ),
    ("fabric/invalid-rails", ports, [0, 2, 15], [1]),
    ("isolation/open-egress", lambda n: _egress(f"0.0.0.0/{n}"), [0, 1, 7], [8, 9]),
    ("isolation/egress-reaches-nodes", lambda n: _egress(f"10.{n}.0.0/16"), [128, 131], [127, 132]),
    ("isolation/egress-reaches-nodes", lambda n: _egress(f"10.0.0.0/{n}"), [8], [7, 9]),
    ("isolation/egress-reaches-nodes", lambda n: _egress(f"172.{n}.0.0/16"), [30], [29, 31]),
    (
        "runtime/unsupported-mpi",
        lambda n: {RUNTIME: {"libraries": {"openmpi": f"{n}.1"}}},
        [3, 6, 10],
        [4, 5],
    ),
    (
        "runtime/cuda-too-old",
        lambda n: {RUNTIME: {"libraries": {"cuda": f"11.{n}"}}},
        [0, 7],
        [8, 9, 10],
    ),
    (
        "node/kubelet-share-exceeds-system",
        lambda n: {HARDWARE: {"kubelet": {"cpu": n}}},
        [17, 224],
        [1, 16],
    ),
    (
        "node/kubelet-share-exceeds-system",
        lambda n: {HARDWARE: {"kubelet": {"memory": f"{n}Gi"}}},
        [64, 97],
        [1, 63],
    ),
    (
        "node/kubelet-share-exceeds-system",
        lambda n: system(ephemeralStorage=f"{n}Gi"),
        [64, 242],
        [243, 1787],
    ),
    ("node/fewer-cores-than-ranks", lambda n: system(cpu=n), [209, 222], [1, 207, 208]),
    ("node/odd-core-split", lambda n: system(cpu=n), [18, 20, 30], [16, 32, 208, 210]),
    ("node/odd-core-split", lambda n: {HARDWARE: {"kubelet": {"cpu": n}}}, [9, 10, 16], [1, 8]),
    (
        "node/impossible-cpu",
        lambda n: {HARDWARE: {"cpu": {"threads": n}}},
        [111, 113, 223, 336, 448],
        [112, 224],
    ),
]


def _weight(sharing: str, weight: int) -> dict[str, Any]:
    return {CLUSTER: {"sharing": sharing, "cohorts": {"research": {"weight": weight}}}}


def _range(first: int, last: int) -> dict[str, Any]:
    return {CLUSTER: {"fabrics": {"ib": {"partitions": f"0x{first:04x}-0x{last:04x}"}}}}


def _three(functions: int) -> dict[str, Any]:
    return quota(NLP, 3) | {HARDWARE: {"nic": {"virtualFunctions": functions}}}


def _egress(cidr: str) -> dict[str, Any]:
    return {CLUSTER: {"egress": {"other": {"to": [cidr], "ports": [443]}}}}


@pytest.mark.parametrize(
    ("rule", "change", "bad", "good"),
    LIMITS,
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_rule_is_broken_only_beyond_its_limit(
    rule: str, change: Change, bad: list[int], good: list[int]
) -> None:
    """Every number beyond the limit breaks the rule, and no number up to it does."""
    assert {n for n in (*bad, *good) if rule in broken(change(n))} == set(bad)


_RETIRED = pytest.mark.parametrize(
    "state", [{"state": "retired"}, {"states": {"prod-east": "retired"}}]
)


@pytest.mark.parametrize(
    ("count", "retired", "breaks"), [(128, 0, False), (129, 0, True), (129, 1, False)]
)
@_RETIRED
def test_too_many_partitions_counts_teams_that_are_not_retired(
    count: int, retired: int, breaks: bool, state: dict[str, Any]
) -> None:
    """A port's table has 128 entries; teams that are retired, or have left the cluster, have
    none."""
    blocks = IPv4Network("10.64.0.0/13").subnets(new_prefix=21)
    teams = {
        f"t{i}": {"partition": f"0x{0x200 + i:04x}", "addresses": str(next(blocks))}
        for i in range(count)
    }
    allocations: dict[str, Any] = {"nlp": None, "vision": None, **teams}
    retired_teams = {f"teams/t{i}.yaml": _retired(state) for i in range(retired)}
    platform = platform_of(
        {"allocations.yaml": {"prod-east": {"ib": allocations}}, **retired_teams}
    )

    assert INFINIBAND.most == 128
    assert bool(list(too_many_partitions(platform))) is breaks


def _retired(state: dict[str, Any]) -> dict[str, Any]:
    fields = {
        "contact": "gone@example.com",
        "groups": {"user": ["gone"]},
        "runtimes": ["openmpi-cuda"],
    }
    return {**fields, **state, "quota": {"prod-east": {"dgx-h100": {"nodes": 4}}}}


@_RETIRED
def test_retired_team_owns_no_nodes_but_keeps_its_partition(state: dict[str, Any]) -> None:
    """A tombstone counts in no sum, and no other team gets its partition."""
    line = {"partition": "0x0101", "addresses": "10.64.32.0/20"}
    changes = {
        "teams/old.yaml": _retired(state),
        "allocations.yaml": {"prod-east": {"ib": {"old": line}}},
    }

    found = broken(changes)
    assert "fabric/partition-given-twice" in found
    assert not {rule for rule in found if rule.startswith("capacity/")}


def _blocks() -> st.SearchStrategy[list[str]]:
    block = st.builds(
        lambda prefix, index: str(IPv4Network((0x0A400000 + (index << (32 - prefix)), prefix))),
        st.integers(20, 24),
        st.integers(0, 15),
    )
    return st.lists(block, min_size=2, max_size=6)


def _with_blocks(blocks: list[str]) -> Platform:
    teams = {
        f"t{i}": {"partition": f"0x{0x200 + i:04x}", "addresses": block}
        for i, block in enumerate(blocks)
    }
    return platform_of(
        {"allocations.yaml": {"prod-east": {"ib": {"nlp": None, "vision": None, **teams}}}}
    )


@given(_blocks())
@settings(deadline=None, max_examples=60)
def test_overlap_is_found_exactly_if_two_blocks_share_an_address(blocks: list[str]) -> None:
    """One pass over the sorted blocks finds the same as a comparison of all pairs."""
    networks = [IPv4Network(block) for block in blocks]
    shared = any(one.overlaps(two) for i, one in enumerate(networks) for two in networks[:i])

    assert bool(list(addresses_overlap(_with_blocks(blocks)))) is shared


@pytest.mark.parametrize(
    ("installed", "breaks"),
    [
        ({"kueue": "0.16.9"}, False),
        ({"kueue": "0.17"}, True),
        ({"kueue": "0.100"}, True),
        ({"kueue": "0.15.10", "trainer": "2.1"}, False),
        ({"kueue": "0.9", "trainer": "2.1"}, True),
        ({"trainer": "2.1.10"}, False),
        ({"trainer": "2.10"}, True),
    ],
)
def test_known_bad_pair_compares_numbers(installed: dict[str, str], breaks: bool) -> None:
    """0.9 comes before 0.15 and 2.10 after 2.2; both components must be within their bounds."""
    assert (KNOWN_BAD_PAIR.id in broken({CLUSTER: {"installed": installed}})) is breaks


@pytest.mark.parametrize(
    ("release", "installed", "lost"),
    [
        ("kubernetes-1.36", {"kueue": "0.16", "trainer": "2.1"}, "no `runtimePatches`"),
        ("kubernetes-1.35", {"kueue": "0.16", "trainer": "2.1"}, "no `runtimePatches`"),
        ("kubernetes-1.34", {"kueue": "0.18", "trainer": "2.2"}, "no `podTemplateOverrides`"),
        ("openshift-ai-3.5", {"kueue": "0.18", "trainer": "2.3"}, "no `podTemplateOverrides`"),
        ("kubernetes-1.36", {"kueue": "0.18", "trainer": "2.2"}, ""),
        ("kubernetes-1.34", {"kubernetes": "1.29"}, "no ValidatingAdmissionPolicy"),
        ("kubernetes-1.36", {"kueue": "0.20.5"}, "0.20.6 corrects it"),
        ("kubernetes-1.36", {"kueue": "0.20.6"}, ""),
    ],
)
def test_pair_that_works_is_bad_with_a_tree_for_another(
    release: str, installed: dict[str, str], lost: str
) -> None:
    """Two operators that fit each other drop what the release writes for others."""
    changes = {CLUSTER: {"release": release, "workspaces": None, "installed": installed}}
    found = [each for each in findings(changes) if each.rule == KNOWN_BAD_PAIR.id]

    assert [lost in each.message for each in found] == [True] * bool(lost)


@pytest.mark.parametrize(
    ("installed", "known"),
    [
        ({"jobset": "0.11"}, "; in no field that this tree writes do they differ"),
        ({"kueue": "0.18"}, "; since 0.19, a job whose pods are not all ready in 30 minutes"),
        ({"kueue": "0.17"}, "; since 0.19, a job"),
        ({"trainer": "2.2"}, "; since 2.3, a job keeps the runtime that it began with"),
        ({"kueue": "0.20.6"}, "; since 0.20, it serves no v1beta1"),
        ({"trainer": "2.4"}, "; since 2.4, suspended jobs of MPI"),
        ({"kubernetes": "1.37"}, "1.36 was"),
        ({"argocd": "3.4"}, "3.5 was"),
    ],
)
def test_what_is_known_of_another_version_is_said(installed: dict[str, str], known: str) -> None:
    """Of versions that nobody compared nothing is said."""
    changes = {CLUSTER: {"release": "kubernetes-1.36", "workspaces": None, "installed": installed}}
    (found,) = (each for each in findings(changes) if each.rule == UNTESTED_VERSION.id)

    assert known in found.message
    assert found.message.endswith(" was") == known.endswith(" was")


@given(st.lists(st.integers(0, 9999), min_size=1, max_size=4))
def test_version_is_read_as_numbers(numbers: list[int]) -> None:
    """A version may have any length, and an open bound comes before all versions."""
    version = version_numbers(".".join(map(str, numbers)))
    assert version == tuple(numbers)
    assert version_numbers("") < version
