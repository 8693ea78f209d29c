"""Two scalable units with one hardware profile: labels of the pool tell them apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.rules.cases import broken, findings, messages, platform_of
from trainyard.model.manifest import Manifest
from trainyard.render.site import render_site

CLUSTER, NLP, VISION = "clusters/prod-east.yaml", "teams/nlp.yaml", "teams/vision.yaml"
UNIT, TYPE = "ml.example.com/unit", "ml.example.com/node-type"
POOLS = {
    "dgx-h100": {"nodes": 9, "reserve": 1, "labels": {UNIT: "su-1"}},
    "su-2": {
        "hardware": "dgx-h100",
        "nodes": 5,
        "reserve": 1,
        "fabric": "ib",
        "preference": 1,
        "labels": {UNIT: "su-2"},
    },
}
UNITS = {"dgx-h100": "su-1", "su-2": "su-2"}
BOTH: dict[str, Any] = {
    CLUSTER: {"pools": POOLS},
    "runtimes/openmpi-cuda.yaml": {
        "launcher": "torchrun",
        "libraries": {"openmpi": None, "torch": "2.8"},
    },
    NLP: {"quota": {"prod-east": {"su-2": {"nodes": 4}}}},
}
"""Team nlp has nodes of both units, and vision of the first."""


def rendered(changes: Mapping[str, Any]) -> list[Manifest]:
    (site,) = platform_of(changes).sites
    return list(render_site(site))


def of_kind(kind: str) -> dict[str, dict[str, Any]]:
    return {each.name: each.body["spec"] for each in rendered(BOTH) if each.body["kind"] == kind}


def selected(unit: str) -> dict[str, str]:
    return {TYPE: "dgx-h100", UNIT: unit}


def test_units_break_no_rule() -> None:
    assert [each.message for each in findings(BOTH)] == []


def test_each_unit_has_objects_of_its_own_labels() -> None:
    """Flavors, ports, kubelets and addresses."""
    flavors = of_kind("ResourceFlavor")
    assert {name: flavors[name]["nodeLabels"] for name in UNITS} == {
        name: selected(unit) for name, unit in UNITS.items()
    }
    machines = of_kind("MachineConfigPool")
    assert {name: machines[name]["nodeSelector"]["matchLabels"] for name in UNITS} == {
        name: selected(unit) for name, unit in UNITS.items()
    }
    ports = of_kind("SriovNetworkNodePolicy")
    assert {name: each["nodeSelector"] for name, each in ports.items() if "rail-0" in name} == {
        f"{name}-rail-0": selected(unit) for name, unit in UNITS.items()
    }


def test_one_runtime_serves_both_units() -> None:
    """It selects the hardware, so that Kueue chooses the unit; no job is in two of them."""
    runtimes = of_kind("ClusterTrainingRuntime")
    (site,) = platform_of(BOTH).sites
    (nlp,) = (tenant for tenant in site.tenants if tenant.name == "nlp")
    (grant,) = nlp.spaces[0].grants

    assert grant.launch.name in runtimes
    assert grant.launch.node_selector == {TYPE: "dgx-h100"}
    assert grant.nodes == 4
    (queue,) = nlp.queues
    assert [flavor.pool.name for flavor in queue.flavors] == ["dgx-h100", "su-2"]


def test_pods_that_kueue_places_apart_are_for_one_unit() -> None:
    """The launcher of an MPI job may fit the first unit, and its nodes not."""
    changes = {name: change for name, change in BOTH.items() if "runtimes/" not in name}

    pools = "team nlp has nodes of 2 pools with hardware `dgx-h100`"
    apart = "Kueue places the pods of runtime `openmpi-cuda` apart"
    assert messages("node/shared-hardware", changes) == [f"{pools}, and {apart}"]


def test_a_unit_without_a_label_has_the_nodes_of_both() -> None:
    pools = {**POOLS, "dgx-h100": {"nodes": 9, "reserve": 1, "labels": None}}

    assert "node/overlapping-pools" in broken({**BOTH, CLUSTER: {"pools": pools}})


@pytest.mark.parametrize("whole", ["dgx-h100", "su-2"])
def test_parts_of_nodes_need_a_hardware_profile_of_their_own(whole: str) -> None:
    """A runtime for a share selects the hardware, and would take parts of nodes promised whole."""
    (other,) = UNITS.keys() - {whole}
    shares = {"dgx-h100": None, other: {"nodes": None, "gpus": 4}}
    message = "pools `dgx-h100` and `su-2` have hardware `dgx-h100`, and teams own parts of nodes"
    parts = {
        CLUSTER: {"pools": POOLS},
        NLP: {"quota": {"prod-east": {"dgx-h100": None, whole: {"nodes": 4}}}},
        VISION: {"quota": {"prod-east": shares}, "largestJob": None},
    }

    assert messages("node/shared-hardware", parts) == [f"{message} of `{other}`"]


def test_too_many_labels_are_refused() -> None:
    """A flavor has at most eight, of the hardware and of the pool together."""
    labels = {f"x.com/{i}": "y" for i in range(7)}
    hardware = {"hardware/dgx-h100.yaml": {"labels": {TYPE: "dgx-h100", "x.com/more": "y"}}}
    one_pool = {CLUSTER: {"pools": {"dgx-h100": {"labels": labels}}}}

    assert messages("node/impossible-labels", one_pool) == []
    assert messages("node/impossible-labels", {**one_pool, **hardware}) == [
        "9 labels select the nodes of pool `dgx-h100`"
    ]


def test_keys_of_a_pool_are_judged_as_those_of_hardware() -> None:
    """A label of namespaces selects no node, and that of a daemon may disappear."""
    labels = {"kueue.x-k8s.io/queue-name": "x", "feature.node.kubernetes.io/x": "y"}
    found = broken({CLUSTER: {"pools": {"dgx-h100": {"labels": labels}}}})

    assert {"node/foreign-label", "node/label-of-a-daemon"} <= found
