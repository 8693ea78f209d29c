"""Fabrics whose devices others advertise: what is refused, and who shares them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cases import TODAY, broken, findings, merged, messages
from trainyard.diagnostics import Diagnostic, Severity
from trainyard.generation.waivers import apply_waivers
from trainyard.model.refusal import REFUSALS
from trainyard.rules.isolation.fabric_without_borders import RULE as WITHOUT_BORDERS
from trainyard.yaml_io.source import Source

CLUSTER, HARDWARE, LEDGER = (
    "clusters/prod-east.yaml",
    "hardware/dgx-h100.yaml",
    "allocations.yaml",
)
Changes = dict[str, Any]
EXCLUSIVE: Changes = {
    CLUSTER: {
        "pools": {"dgx-h100": {"nodes": 5}},
        "fabrics": {
            "ib": {
                "link": "exclusive-devices",
                "devices": "rdma/ib",
                "partitions": None,
                "addresses": None,
            }
        },
        "external": {
            "DevicePlugin/ib": "cloud team",
            "PoolNetworks/ib": "cloud team",
            "Partitions/ib": None,
            "NodeFirmware/ib": None,
            "IPReconciler/whereabouts": None,
        },
    },
    LEDGER: {"prod-east": {"ib": None}},
    HARDWARE: {"devices": {"rdma/ib": 8}},
    "teams/vision.yaml": None,
}
"""The base platform with one team, on a fabric of the cluster's owner."""

BOTH: Changes = {key: change for key, change in EXCLUSIVE.items() if key != "teams/vision.yaml"}
BOTH[CLUSTER] = {key: change for key, change in BOTH[CLUSTER].items() if key != "pools"}
"""The same with both teams on the pool."""


def changed(base: Changes, *others: Changes) -> Changes:
    """Return changes with others in their places; null stays, since it removes a key."""
    result = dict(base)
    for other in others:
        for key, change in other.items():
            both = isinstance(change, dict) and isinstance(result.get(key), dict)
            result[key] = changed(result[key], change) if both else change
    return result


def _link(link: str, **fields: Any) -> Changes:
    return {CLUSTER: {"fabrics": {"ib": {"link": link, **fields}}}}


def test_a_fabric_of_the_clusters_owner_is_right() -> None:
    assert findings(EXCLUSIVE) == []


@pytest.mark.parametrize("name", REFUSALS)
def test_a_fabric_that_we_can_not_build_is_refused_by_name(name: str) -> None:
    """One finding at its place, with the reason and what to choose; nothing is suggested that is
    spelt alike."""
    (found,) = findings(_link(name))

    assert found.rule == "fabric/unsupported-link"
    assert found.at.path == ("fabrics", "ib", "link")
    assert REFUSALS[name].reason in found.message
    assert found.hint.startswith(REFUSALS[name].instead)
    assert "platforms.md#fabrics" in found.hint
    assert "did you mean" not in found.hint


def test_an_unknown_fabric_gets_the_list() -> None:
    (found,) = findings(_link("slingshot"))

    assert "slingshot" in found.message
    assert (
        "efa, exclusive-devices, flat-sriov, gke-rdma, infiniband, roce, shared-device"
        in found.hint
    )


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"addresses": "10.64.0.0/13"}, {"addresses"}),
        ({"partitions": "0x0100-0x017f", "mtu": 4092}, {"partitions", "mtu"}),
        ({"block": 20, "trafficClass": 96}, {"block", "trafficClass"}),
        ({"resources": "ib", "vlans": "100-199"}, {"resources", "vlans"}),
    ],
)
def test_fields_of_rails_are_refused_on_devices(fields: Changes, wrong: set[str]) -> None:
    """Each at its own key, all in one run."""
    found = findings(changed(EXCLUSIVE, _link("exclusive-devices", **fields)))

    assert {each.rule for each in found} == {"fabric/fields-of-another-link"}
    assert {each.at.path[-1] for each in found} == wrong


def test_fabric_of_the_site_names_its_devices_and_efa_has_its_own() -> None:
    without = changed(EXCLUSIVE, _link("exclusive-devices", devices=None))
    efa = changed(EXCLUSIVE, _link("efa", devices="rdma/ib"))

    assert "fabric `ib` is exclusive-devices and has no `devices`" in {
        each.message for each in findings(without)
    }
    assert "fabric/fields-of-another-link" in {each.rule for each in findings(efa)}


def test_fabric_of_networks_names_them_and_no_devices() -> None:
    networks = {"devices": None, "networks": [f"rdma-{port}" for port in range(8)]}
    gke = changed(EXCLUSIVE, _link("gke-rdma", **networks))
    without = changed(EXCLUSIVE, _link("gke-rdma", devices=None))
    devices = changed(gke, _link("gke-rdma", devices="rdma/ib", network="default/x"))
    foreign = changed(EXCLUSIVE, _link("exclusive-devices", networks=["rdma-0"]))

    assert findings(gke) == []
    assert "fabric `ib` is gke-rdma and has no `networks`" in {
        each.message for each in findings(without)
    }
    assert {each.at.path[-1] for each in findings(devices)} == {"devices", "network"}
    assert {each.at.path[-1] for each in findings(foreign)} == {"networks"}


@pytest.mark.parametrize("amount", [1, 7, 9])
def test_machines_with_interfaces_have_a_port_for_each_gpu(amount: int) -> None:
    networks = {"devices": None, "networks": [f"rdma-{port}" for port in range(amount)]}
    (found,) = findings(changed(EXCLUSIVE, _link("gke-rdma", **networks)))

    assert found.rule == "fabric/networks-differ-from-gpus"
    assert found.at.path[-1] == "networks"


def test_shares_of_many_teams_are_one_finding() -> None:
    """Nor are these teams neighbours: their jobs have nothing of the fabric."""
    quota = {"prod-east": {"dgx-h100": {"nodes": None, "gpus": 2}}}
    found, *others = (
        each
        for each in findings(
            changed(
                BOTH,
                {
                    CLUSTER: {"pools": {"dgx-h100": {"nodes": 2, "reserve": 1}}},
                    "teams/nlp.yaml": {"quota": quota, "largestJob": None},
                    "teams/vision.yaml": {"quota": quota, "largestJob": None},
                },
            )
        )
        if each.severity is Severity.ERROR
    )

    assert found.rule == "fabric/share-without-its-devices"
    assert "the shares of 1 other team are like this" in found.notes[1].message
    assert not others


def test_rails_need_addresses() -> None:
    (found,) = findings({CLUSTER: {"fabrics": {"ib": {"addresses": None}}}})

    assert found.message == "fabric `ib` is infiniband and has no `addresses`"


def test_such_a_fabric_gives_no_numbers() -> None:
    """A line of the ledger is reported for what it is."""
    line = {"nlp": {"partition": "0x0101", "addresses": "10.64.0.0/20"}, "vision": None}
    found = findings(changed(EXCLUSIVE, {LEDGER: {"prod-east": {"ib": line}}}))
    (finding,) = [each for each in found if each.at.path[:2] == ("prod-east", "ib")]

    assert finding.rule == "fabric/allocation-of-another-link"
    assert "gives none" in finding.message


def test_what_its_owners_do_is_asked_for() -> None:
    external = {"DevicePlugin/ib": None, "PoolNetworks/ib": None}
    found = messages(
        "references/undeclared-external", changed(EXCLUSIVE, {CLUSTER: {"external": external}})
    )

    assert found == [
        "`DevicePlugin/ib` is not declared in `external`",
        "`PoolNetworks/ib` is not declared in `external`",
    ]


def test_two_teams_on_one_pool_are_reported_once() -> None:
    (found,) = findings(BOTH)

    assert (found.rule, found.severity) == (WITHOUT_BORDERS.id, Severity.ERROR)
    assert "teams nlp and vision" in found.message
    assert "a pool of its own" in found.hint
    assert "waive" in found.hint


def test_teams_without_rdma_share_a_pool() -> None:
    """Their pods request no device, so they reach nobody by it."""
    assert WITHOUT_BORDERS.id not in broken(
        changed(BOTH, {"runtimes/openmpi-cuda.yaml": {"fabric": "tcp"}})
    )


def test_slots_separate_no_pools_either() -> None:
    """A pool of its own does not help: every pod of the fabric has every port of its node."""
    apart: Changes = {
        CLUSTER: {
            "pools": {
                "dgx-h100": {"nodes": 5},
                "dgx-vision": {"nodes": 5, "reserve": 1, "fabric": "ib"},
            },
        },
        "hardware/dgx-vision.yaml": {"extends": "dgx-h100"},
        "runtimes/openmpi-cuda.yaml": {"hardware": ["dgx-h100", "dgx-vision"]},
        "teams/vision.yaml": {
            "quota": {"prod-east": {"dgx-h100": None, "dgx-vision": {"nodes": 4}}}
        },
    }
    by_pool = changed(BOTH, apart)
    by_slot = changed(
        by_pool,
        _link("shared-device"),
        {CLUSTER: {"external": {"PoolNetworks/ib": None}}},
    )

    assert WITHOUT_BORDERS.id not in broken(by_pool)
    (found,) = findings(by_slot)
    assert found.rule == WITHOUT_BORDERS.id
    assert "pools dgx-h100, dgx-vision" in found.message
    assert "a cluster of its own" in found.hint


def _after_waiver(found: list[Diagnostic], rule: str) -> list[Diagnostic]:
    waiver = {
        "rule": rule,
        "file": f"profiles/{CLUSTER}",
        "reason": "Both teams are one department",
        "owner": "ml-platform",
        "expires": "2027-06-30",
    }
    source = Source("profiles/waivers.yaml", b"", {"waivers": [waiver]})
    return list(apply_waivers(found, source, TODAY)[0])


def test_a_waiver_lifts_that_error_and_no_other() -> None:
    """An error of the same file stays, and the waiver is reported as unused."""
    other = findings(_link("spectrum-x"))
    (error,) = other

    assert _after_waiver(findings(BOTH), WITHOUT_BORDERS.id) == []
    assert error in _after_waiver(other, error.rule)


def test_functions_of_a_virtual_machine_have_their_own_help() -> None:
    (found,) = findings({HARDWARE: {"nic": {"device": "101e"}}})

    assert found.rule == "fabric/unsupported-nic"
    assert "exclusive-devices" in found.hint


def test_trainer_counts_devices_with_gpu_in_their_name() -> None:
    found = messages(
        "runtime/gpu-in-resource-name",
        changed(
            EXCLUSIVE,
            _link("exclusive-devices", devices="example.com/gpu-port"),
            {HARDWARE: {"devices": {"example.com/gpu-port": 8}}},
        ),
    )

    assert found == ["`example.com/gpu-port` of fabric `ib` has `gpu` in its name"]


def test_merging_is_that_of_cases() -> None:
    """The helper above keeps null, which a case removes by."""
    assert merged({"a": 1}, {"a": None}) == {}
    assert changed({"a": {"b": 1}}, {"a": {"c": None}}) == {"a": {"b": 1, "c": None}}


_SHARED = "fabric `ib` is shared-device"


@pytest.mark.parametrize(
    ("fabric", "message"),
    [
        ({"network": "default/rdma-vf"}, ""),
        ({"link": "flat-sriov", "network": "rdma-vf"}, ""),
        (
            {"link": "shared-device", "network": "rdma-vf"},
            f"{_SHARED}, whose networks belong to the cluster's owner, and has `network`",
        ),
        (
            {"link": "efa", "devices": None, "network": "rdma-vf"},
            "fabric `ib` is efa, whose networks belong to the cloud, and has `network`",
        ),
        (
            {
                "link": "infiniband",
                "devices": None,
                "network": "rdma-vf",
                "partitions": "0x0100-0x017f",
                "addresses": "10.64.0.0/13",
            },
            "fabric `ib` is infiniband, whose devices the tree makes, and has `network`",
        ),
    ],
)
def test_network_is_of_devices_that_are_given_one_by_one(
    fabric: dict[str, Any], message: str
) -> None:
    """A slot has no network of its own, and those of clouds and of the tree have no name."""
    external = {"NetworkAttachmentDefinition/rdma-vf": "network team"}
    change = {CLUSTER: {"fabrics": {"ib": fabric}, "external": external}}
    found = [
        each.message
        for each in findings(changed(EXCLUSIVE, change))
        if each.rule == "fabric/fields-of-another-link"
    ]

    assert found == ([message] if message else [])


def test_network_of_devices_is_declared_with_its_owner() -> None:
    change = {CLUSTER: {"fabrics": {"ib": {"network": "default/rdma-vf"}}}}

    found = messages("references/undeclared-external", changed(EXCLUSIVE, change))

    assert "`NetworkAttachmentDefinition/rdma-vf` is not declared in `external`" in found
