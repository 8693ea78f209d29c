"""A hardware profile of what nodes say of themselves."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from trainyard.diagnostics import TreeError
from trainyard.scaffold.hardware import measured_profile
from trainyard.scaffold.nodes import measured
from trainyard.scaffold.template import placeholders
from trainyard.yaml_io.reader import read

Body = dict[str, Any]

_ADDRESSES = ("18", "40", "4f", "5e", "9a", "c0", "ce", "dc")


def node_body(**changes: Any) -> Body:
    """Return a Node with eight GPUs, changed at paths joined by two underscores."""
    capacity = {
        "cpu": "224",
        "memory": "2113310720Ki",
        "ephemeral-storage": "1874816000Ki",
        "pods": "250",
        "nvidia.com/gpu": "8",
        "rdma/ib": "8",
    }
    body: Body = {
        "kind": "Node",
        "metadata": {
            "name": "gpu-01",
            "labels": {
                "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
                "feature.node.kubernetes.io/cpu-hardware_multithreading": "true",
            },
        },
        "spec": {
            "taints": [
                {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"},
                {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"},
            ]
        },
        "status": {
            "nodeInfo": {"architecture": "amd64"},
            "capacity": capacity,
            "allocatable": {**capacity, "cpu": "216", "memory": "2080000000Ki"},
        },
    }
    for path, value in changes.items():
        _put(body, path.split("__"), value)
    return body


def _put(body: Body, path: list[str], value: Any) -> None:
    *parents, last = path
    for key in parents:
        body = body[key]
    body[last] = value


def ports_body(**changes: Any) -> Body:
    """Return its ports as the SR-IOV operator lists them, the first one changed."""
    rail = {"vendor": "15b3", "deviceID": "1021", "linkSpeed": "400000 Mb/s"}
    ports = [
        {**rail, "pciAddress": f"0000:{each}:00.0", "name": f"ibp{int(each, 16)}s0"}
        for each in _ADDRESSES
    ]
    ports[1:1] = [{**rail, "pciAddress": "0000:29:00.0", "deviceID": "101d", "linkSpeed": ""}]
    ports.append({**rail, "pciAddress": "0000:dc:00.1", "deviceID": "101e"})
    ports[0] |= changes
    return {
        "kind": "SriovNetworkNodeState",
        "metadata": {"name": "gpu-01"},
        "status": {"interfaces": ports},
    }


def _profile(*bodies: Body) -> tuple[dict[str, Any], bytes]:
    content = measured_profile(measured("nodes.json", bodies))
    source, found = read("profiles/hardware/new.yaml", content)
    assert found == ()
    return source.value, content


def test_each_value_of_a_node_has_its_source() -> None:
    """What a node does not say is a placeholder, by its name."""
    value, content = _profile(node_body(), ports_body())
    lines = content.decode().splitlines()

    assert value["gpu"] == {"product": "NVIDIA-H100-80GB-HBM3", "count": 8}
    assert value["cpu"] == {"sockets": 2, "cores": 112, "threads": 224}
    assert (value["arch"], value["pods"], value["taint"]) == ("amd64", 250, "nvidia.com/gpu")
    assert (value["memory"], value["ephemeralStorage"]) == ("2015Gi", "1787Gi")
    assert value["devices"] == {"rdma/ib": 8}
    assert value["kubelet"]["cpu"] == 8
    assert all("# " in line for line in lines if line != "nics:")
    assert [what.split(",")[0].split(" (")[0] for _, what in placeholders(content)] == [
        "sockets and cores",
        "the NUMA nodes of one node",
        "kubelet's share",
        "roles",
    ]


def test_fastest_ports_are_rails_if_there_is_one_for_each_gpu() -> None:
    """Virtual functions are not ports, and a port without a link is none of the fastest."""
    value, _ = _profile(node_body(), ports_body())
    rails = [each for each in value["nics"] if each["role"] == "rail"]

    assert value["nic"] == {"vendor": "15b3", "device": "1021", "rate": 400, "virtualFunctions": 8}
    assert [each["gpu"] for each in rails] == list(range(8))
    assert [each["pci"] for each in rails] == [f"0000:{each}:00.0" for each in _ADDRESSES]
    assert [each["pci"] for each in value["nics"] if each["role"] != "rail"] == ["0000:29:00.0"]


def test_ports_that_do_not_match_gpus_are_asked_for() -> None:
    """No rail is guessed: jobs would request functions of the wrong card."""
    value, content = _profile(node_body(), ports_body(linkSpeed="200000 Mb/s"))

    assert "nic" not in value
    assert {each["role"] for each in value["nics"]} == {"management"}
    assert any(what.startswith("roles") for _, what in placeholders(content))


def test_numa_nodes_are_those_of_nfd() -> None:
    zones = [{"name": "node-0", "type": "Node"}, {"name": "node-1", "type": "Node"}, {"type": "X"}]
    topology = {"kind": "NodeResourceTopology", "metadata": {"name": "gpu-01"}, "zones": zones}
    value, content = _profile(node_body(), topology)

    assert value["numaNodes"] == 2
    assert b"numaNodes: 2 # zones of NodeResourceTopology gpu-01" in content


def test_least_of_all_nodes_counts() -> None:
    """The kernel leaves a little more or less on each node."""
    other = node_body(metadata__name="gpu-02", status__capacity__memory="2100000000Ki")
    value, _ = _profile(node_body(), {**other, "kind": "Node"})

    assert value["memory"] == "2002Gi"


def test_accelerators_of_others_are_never_nvidias() -> None:
    """The resource is written, so that the rule for it says what is not built."""
    node = node_body(metadata__labels={"amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM"})
    node["status"]["capacity"]["amd.com/gpu"] = node["status"]["capacity"].pop("nvidia.com/gpu")
    value, _ = _profile(node)

    assert value["gpu"] == {
        "product": "AMD_Instinct_MI300X_OAM",
        "count": 8,
        "resource": "amd.com/gpu",
    }


def test_node_without_labels_is_asked_for_its_product() -> None:
    value, content = _profile(node_body(metadata__labels={}))

    assert value["gpu"]["count"] == 8
    assert b"# placeholder: the product: no node has the label nvidia.com/gpu.product" in content


@pytest.mark.parametrize(
    ("bodies", "message"),
    [
        ([], "has 0 Nodes; make it with `kubectl get node NODE -o json`"),
        ([ports_body()], "has 0 Nodes"),
        ([node_body()] * 5001, "has 5001 Nodes"),
        ([node_body(metadata__name="a\nb: c")], "without a name that a node can have"),
        ([node_body(metadata=None)], "without a name that a node can have"),
        (
            [node_body(status__capacity__memory="1e999x")],
            "`status.capacity.memory` is not",
        ),
        (
            [node_body(status__capacity__memory="10")],
            "`status.capacity.memory` of 1Gi or more",
        ),
        (
            [node_body(), node_body(metadata__name="gpu-02", status__capacity__cpu="192")],
            "nodes gpu-01 and gpu-02 differ in CPUs: '224' and '192'; hand in nodes of one type",
        ),
        (
            [node_body(), ports_body(pciAddress="0000:18:00.0\n- x")],
            "has a port without a PCI address",
        ),
        ([node_body(), ports_body(vendor=None)], "has a port without a PCI address and ids"),
    ],
)
def test_files_that_are_no_dump_of_one_type_are_refused(bodies: list[Body], message: str) -> None:
    with pytest.raises(TreeError) as error:
        measured_profile(measured("nodes.json", bodies))

    assert message in str(error.value)


def test_more_ports_than_a_profile_may_have_are_refused() -> None:
    state = ports_body()
    state["status"]["interfaces"] *= 7
    with pytest.raises(TreeError, match="has 70 ports; a profile may have 64"):
        measured_profile(measured("nodes.json", [node_body(), state]))


@pytest.mark.parametrize(
    "change",
    [
        {"metadata__labels": {"nvidia.com/gpu.product": "x} # y\nevil: true"}},
        {"spec__taints": [{"key": "a: b\n- c", "effect": "NoSchedule"}]},
        {"status__nodeInfo__architecture": "amd64\nevil: true"},
        {"status__allocatable": {"rdma/ib: 8}\nevil: {a": "8", "cpu": "200"}},
        {"spec": "no mapping", "status__nodeInfo": [1, 2]},
    ],
)
def test_no_value_of_a_node_becomes_another_line(change: dict[str, Any]) -> None:
    """A label or taint can hold what its writer wants; a profile has values of known forms."""
    value, _ = _profile(node_body(**deepcopy(change)))

    assert "evil" not in value
    assert value["gpu"]["count"] == 8
