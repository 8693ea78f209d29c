"""NVLink between nodes: where it can't be, where nobody uses it, and what it asks for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.rules.cases import HERE, findings, platform_of, read_case
from tests.rules.test_fabrics import changed
from trainyard.model.nvlink import CLIQUE

CLUSTER = "clusters/prod-east.yaml"


def _good(*more: dict[str, Any]) -> dict[str, Any]:
    """Return a platform with NVLink between the nodes of a pool, changed."""
    changes, _ = read_case(Path(HERE) / "node/impossible-nvlink/good.yaml")
    return changed(changes, *more)


def test_right_platform_has_no_finding() -> None:
    """Not even that its NVLink is not used."""
    assert not findings(_good())


@pytest.mark.parametrize(
    ("change", "message", "hint"),
    [
        (
            {CLUSTER: {"fabrics": {"ib": {"levels": ["ml.example.com/leaf", "a.example/b"]}}}},
            f"the lowest level of pool `gb200` is not `{CLIQUE}`",
            f"Make `{CLIQUE}` the last of `levels`",
        ),
        (
            {CLUSTER: {"release": "openshift-ai-3.5"}},
            "Kueue 0.16 of release openshift-ai-3.5 counts no claims",
            "Leave `nvlink` out, and plan with the rate of the fabric between nodes.",
        ),
        (
            {CLUSTER: {"pools": {"dgx-h100": {"nvlink": True}}}},
            "NVLink does not connect the nodes of hardware `dgx-h100`",
            "Leave `nvlink` out: within a node NVLink is used anyway.",
        ),
    ],
)
def test_nvlink_that_cannot_be_is_refused_with_its_reason(
    change: dict[str, Any], message: str, hint: str
) -> None:
    """One finding, at the key, with what to do on this cluster."""
    (found,) = [each for each in findings(_good(change)) if each.rule == "node/impossible-nvlink"]

    assert (found.message, str(found.at.path[-1])) == (message, "nvlink")
    assert found.hint.startswith(hint)


@pytest.mark.parametrize(
    ("change", "pool"),
    [
        ({CLUSTER: {"pools": {"dgx-h100": {"nvlink": True}}}}, "dgx-h100"),
        ({CLUSTER: {"release": "openshift-ai-3.5", "external": {"ComputeDomains/gb200": None}}},
         "gb200"),
    ],
)  # fmt: skip
def test_nvlink_that_cannot_be_asks_for_no_driver(change: dict[str, Any], pool: str) -> None:
    """One finding for one cause: who leaves the key out needs no owner of a driver."""
    found = findings(_good(change))

    assert [each.rule for each in found if each.at.path[:2] == ("pools", pool)] == [
        "node/impossible-nvlink"
    ]
    assert not [each for each in found if "ComputeDomains" in each.message]


@pytest.mark.parametrize(
    ("release", "hint"),
    [
        ("kubernetes-1.36", "Set `nvlink: true` on the pool"),
        ("openshift-ai-3.5", "Kueue 0.16 counts no claims: plan with the rate"),
    ],
)
def test_unused_nvlink_says_what_the_release_can(release: str, hint: str) -> None:
    """A fix that the cluster's own release refuses would help nobody."""
    change = {CLUSTER: {"release": release, "pools": {"gb200": {"nvlink": False}}}}
    found = [each for each in findings(_good(change)) if each.rule == "node/unused-nvlink"]

    assert [each.hint.startswith(hint) for each in found] == [True]


def test_pools_of_one_hardware_have_it_or_none() -> None:
    """A runtime is made for the hardware, so its pods would have claims on both."""
    more = {"hardware": "gb200", "nodes": 2, "fabric": "ib", "labels": {"a.example/unit": "two"}}
    two = {CLUSTER: {"pools": {"gb200": {"labels": {"a.example/unit": "one"}}, "gb200-two": more}}}
    found = [each for each in findings(_good(two)) if each.rule == "node/shared-hardware"]

    assert "only one of them has NVLink between its nodes" in found[0].message


def test_driver_is_declared_with_its_owner() -> None:
    """The tree's ComputeDomains do nothing without it."""
    without = _good({CLUSTER: {"external": {"ComputeDomains/gb200": None}}})
    unused = _good({CLUSTER: {"pools": {"gb200": {"nvlink": False}}}})

    assert "`ComputeDomains/gb200` is not declared in `external`" in [
        each.message for each in findings(without)
    ]
    assert "nothing on cluster prod-east needs `ComputeDomains/gb200`" in [
        each.message for each in findings(unused)
    ]


@pytest.mark.parametrize(("leaf", "most"), [(2, 2), (18, 4), (0, 4)])
def test_job_is_within_one_domain(leaf: int, most: int) -> None:
    """Its nodes are those of a domain at most, whatever quota the team has."""
    fabric = {"leafNodes": leaf or None}
    (site,) = platform_of(_good({CLUSTER: {"fabrics": {"ib": fabric}}})).sites
    grants = {
        grant.launch.nodes: grant.nodes
        for tenant in site.tenants
        for space in tenant.spaces
        for grant in space.grants
    }

    assert grants == {"dgx-h100": 4, "gb200": most}


def test_part_of_a_node_and_sockets_have_no_claim() -> None:
    """A node is in one domain, which another team's part would be in; sockets need none."""
    share = {
        "quota": {"prod-east": {"gb200": {"nodes": None, "gpus": 2}}},
        "largestJob": {"nodes": 2},
    }
    parts = _good({"teams/vision.yaml": share})
    sockets = _good({"runtimes/openmpi-cuda.yaml": {"fabric": "tcp"}})
    for changes in (parts, sockets):
        (site,) = platform_of(changes).sites
        launches = [each for each in site.launches if each.hardware.name == "gb200"]
        assert not any(each.claims_nvlink for each in launches)
