"""Fabrics as providers: what each gives to pods, and that one of data alone needs no code."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import chain

import pytest

from tests.conftest import REPOSITORY
from tests.model.shapes import AT, launch, node, pool
from tests.rules.cases import findings, platform_of
from tests.rules.test_fabrics import EXCLUSIVE, changed
from trainyard.model.fabric import DeviceFabric
from trainyard.model.link import LINKS
from trainyard.model.provider import Provider, Request, Separation
from trainyard.model.providers import PROVIDERS
from trainyard.model.refusal import REFUSALS
from trainyard.render.views.launch import LaunchView

ON_DEVICES = [each for each in PROVIDERS.values() if each.link is None]
FOUR = node(devices={"example.com/port": 4}, nics=())


NETWORKS = ("rdma-0", "rdma-1", "rdma-2", "rdma-3")
ON_RESOURCES = [each for each in ON_DEVICES if each.request is not Request.INTERFACES]


def _fabric(provider: Provider) -> DeviceFabric:
    if provider.request is Request.INTERFACES:
        return DeviceFabric("fast", AT, provider, "", networks=NETWORKS)
    return DeviceFabric("fast", AT, provider, "example.com/port")


def test_each_link_has_a_provider() -> None:
    on_rails = {name: each.link for name, each in PROVIDERS.items() if each.link}

    assert on_rails == dict(LINKS)
    assert all(each.request is Request.RAILS for each in PROVIDERS.values() if each.link)
    assert all(each.separation is Separation.PODS for each in PROVIDERS.values() if each.link)


@pytest.mark.parametrize("provider", ON_DEVICES, ids=lambda each: each.name)
def test_what_others_own_is_declared_and_described(provider: Provider) -> None:
    """Somebody runs the plugin, and whoever keeps pools apart is named."""
    assert "DevicePlugin" in provider.external
    assert ("PoolNetworks" in provider.external) is (provider.separation is Separation.POOLS)
    assert provider.separation is not Separation.PODS
    assert provider.needs
    assert all(need.format(devices="x").endswith(".") for need in provider.needs)


@pytest.mark.parametrize("provider", ON_RESOURCES, ids=lambda each: each.name)
def test_pods_request_what_a_node_has_and_queues_cover_it(provider: Provider) -> None:
    """Every device of the node, or one slot of those that the plugin offers."""
    on = _fabric(provider)
    each = launch(FOUR, on=on)
    asked = each.per_node["example.com/port"]

    assert asked == (1 if provider.request is Request.SLOT else 4)
    assert pool(FOUR, on).allocatable["example.com/port"] == 4
    assert each.ports == (0 if provider.request is Request.SLOT else 4)
    assert each.rdma == on
    assert not each.rails
    assert "k8s.v1.cni.cncf.io/networks" not in LaunchView(each).node_annotations


def test_pods_list_an_interface_in_each_network_and_queues_count_none() -> None:
    """The cloud adds the requests for them, so a queue that covered them would count nothing."""
    on = _fabric(PROVIDERS["gke-rdma"])
    each, annotations = launch(FOUR, on=on), LaunchView(launch(FOUR, on=on)).node_annotations

    assert json.loads(annotations["networking.gke.io/interfaces"]) == [
        {"interfaceName": "eth0", "network": "default"},
        {"interfaceName": "eth2", "network": "rdma-0"},
        {"interfaceName": "eth3", "network": "rdma-1"},
        {"interfaceName": "eth4", "network": "rdma-2"},
        {"interfaceName": "eth5", "network": "rdma-3"},
    ]
    assert annotations["networking.gke.io/default-interface"] == "eth0"
    assert (each.ports, each.rdma) == (4, on)
    assert pool(FOUR, on).allocatable == pool(FOUR).allocatable
    assert "networking.gke.io.networks/rdma-0.IP" in pool(FOUR, on).resources


def test_runtimes_with_sockets_list_no_interface() -> None:
    view = LaunchView(launch(FOUR, on=_fabric(PROVIDERS["gke-rdma"]), fabric="tcp"))

    assert not [key for key in view.node_annotations if key.startswith("networking.gke.io/")]


@pytest.mark.parametrize("provider", ON_DEVICES, ids=lambda each: each.name)
def test_runtimes_with_sockets_request_no_device(provider: Provider) -> None:
    each = launch(FOUR, on=_fabric(provider), fabric="tcp")

    assert "example.com/port" not in each.per_node
    assert each.rdma is None
    assert each.ports == 0


def test_a_share_of_a_node_has_a_slot() -> None:
    each = launch(FOUR, on=_fabric(PROVIDERS["shared-device"]), part=Fraction(1, 2))

    assert each.per_node["example.com/port"] == 1


def test_ucx_is_left_out_where_it_has_no_transport() -> None:
    """MPI then starts ranks over TCP, and NCCL has the fabric."""
    view = LaunchView(launch(FOUR, on=_fabric(PROVIDERS["efa"])))
    ranks = {each["name"]: each["value"] for each in view.rank_environment}
    started = {each["name"]: each["value"] for each in view.launcher_environment}

    assert "UCX_TLS" not in ranks
    assert ranks["FI_EFA_USE_HUGE_PAGE"] == "0"
    assert started["OMPI_MCA_pml"] == "^cm,ucx"


def test_a_provider_of_data_alone_needs_no_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """A platform with it has no finding, and its runtimes request its devices."""
    new = replace(PROVIDERS["exclusive-devices"], name="new-cards", devices="example.com/card")
    monkeypatch.setitem(PROVIDERS, "new-cards", new)
    changes = changed(
        EXCLUSIVE,
        {
            "clusters/prod-east.yaml": {"fabrics": {"ib": {"link": "new-cards", "devices": None}}},
            "hardware/dgx-h100.yaml": {"devices": {"rdma/ib": None, "example.com/card": 8}},
        },
    )
    launches = chain.from_iterable(site.launches for site in platform_of(changes).sites)

    assert findings(changes) == []
    assert {each.per_node["example.com/card"] for each in launches} == {8}


def test_no_code_names_a_provider_of_data_alone() -> None:
    """Their names are in the table alone, and in the schema, which describes them."""
    names = [f'"{each.name}"' for each in ON_DEVICES] + [f'"{name}"' for name in REFUSALS]
    tables = {"providers.py", "refusal.py"}
    files = (path for path in (REPOSITORY / "generator").rglob("*.py") if path.name not in tables)
    named = {'"tcp"'}  # how ranks of a runtime talk

    assert not [
        (path, name)
        for path in files
        for name in {*names} - named
        if name in path.read_text(encoding="utf-8")
    ]
