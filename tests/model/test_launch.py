"""A runtime on a node type: cores of each rank, environment, annotations."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.model.hardware import Hardware
from generator.model.launch import Launch
from tests.model.shapes import launch, node, nodes

RACK = "example.com/rack"
PREFERRED, GROUP = "kueue.x-k8s.io/podset-preferred-topology", "kueue.x-k8s.io/podset-group-name"
NETWORKS, OFFSET = "k8s.v1.cni.cncf.io/networks", "kueue.x-k8s.io/pod-index-offset"
SCC = "openshift.io/required-scc"


def variables(environment: list[dict[str, str]]) -> dict[str, str]:
    """Return an environment by name; no name may stand twice in it."""
    named = {each["name"]: each["value"] for each in environment}
    assert len(named) == len(environment)
    return named


@pytest.mark.parametrize(("rails", "topology", "groups"), list(product((False, True), ("", RACK), (False, True))))
def test_annotations_follow_rails_topology_and_release(rails: bool, topology: str, groups: bool) -> None:
    """Each annotation is there exactly when it means something, sorted; a group needs topology and release."""
    each = launch(node() if rails else node(nics=()), topology=topology, groups=groups)
    expected = {SCC: "restricted-v2"}
    if rails:
        expected[NETWORKS] = "small-rail-0,small-rail-1"
    if topology:
        expected[PREFERRED] = topology
    if topology and groups:
        expected[GROUP] = "job"
    offset = {OFFSET: "-1"} if topology and groups else {}

    assert each.launcher_annotations == expected
    assert each.node_annotations == expected | offset
    assert list(each.launcher_annotations) == sorted(expected)
    assert list(each.node_annotations) == sorted(expected | offset)


@given(nodes())
def test_ranks_share_the_cores(hardware: Hardware) -> None:
    """One rank a GPU, or one a core; each has as many cores as all can have, and never one too many."""
    each = launch(hardware)

    assert each.ranks == (hardware.gpus or hardware.promised_cores)
    assert each.cores_per_rank * each.ranks <= hardware.promised_cores < (each.cores_per_rank + 1) * each.ranks
    assert each.cores_per_rank >= 1


@given(nodes(), st.sampled_from(["cores", "none"]))
def test_threads_of_all_ranks_are_in_the_pod(hardware: Hardware, binding: str) -> None:
    """What the ranks are bound to is never more than the pod asks for; an unbound rank needs one thread."""
    each = launch(hardware, binding=binding)
    smt = hardware.threads // hardware.cores

    assert each.threads_per_rank == (each.cores_per_rank * smt if binding == "cores" else 1)
    assert each.threads_per_rank * each.ranks * 1000 <= each.per_node["cpu"]


def test_pod_is_guaranteed() -> None:
    """Requests are the limits, for the ranks and the init container, and in the form that the API server stores."""
    each = launch()
    for resources in (each.resources, each.account_resources):
        assert resources["limits"] == resources["requests"]
    assert each.resources["limits"] == {
        "cpu": "14",
        "memory": "60Gi",
        "nvidia.com/gpu": "2",
        "openshift.io/small_rail_0": "1",
        "openshift.io/small_rail_1": "1",
        "ephemeral-storage": "90Gi",
    }


@pytest.mark.parametrize(("gpu", "rails"), list(product((False, True), repeat=2)))
def test_rank_environment_follows_the_node(gpu: bool, rails: bool) -> None:
    """NCCL is told of the pod's interface where GPUs are, and of the rails where rails are; nothing else is set."""
    small = node()
    each = launch(node(gpu=small.gpu if gpu else None, nics=small.nics if rails else ()))
    ranks, launcher = variables(each.rank_environment), variables(each.launcher_environment)

    nccl = {"NCCL_DEBUG", "NCCL_SOCKET_IFNAME"} if gpu else set()
    fabric = {"NCCL_IB_HCA", "UCX_TLS"} if rails else set()
    assert ranks.keys() == {"HOME"} | nccl | fabric
    assert ranks.get("NCCL_SOCKET_IFNAME", "=eth0") == "=eth0"
    assert list(ranks) == sorted(ranks)
    assert ranks.items() <= launcher.items()
    assert launcher.get("OMPI_MCA_pml") == ("ucx" if rails else None)


@given(nodes())
def test_both_versions_of_open_mpi_are_told_the_same(hardware: Hardware) -> None:
    """Open MPI 4 and 5 read other names and must do one thing: cores of each rank, binding, ssh, interface."""
    for binding, mapping in (("cores", f"slot:PE={launch(hardware).cores_per_rank}"), ("none", "slot")):
        told = variables(launch(hardware, binding=binding).launcher_environment)
        bound = "core" if binding == "cores" else "none"

        assert told["OMPI_MCA_rmaps_base_mapping_policy"] == told["PRTE_MCA_rmaps_default_mapping_policy"] == mapping
        assert told["OMPI_MCA_hwloc_base_binding_policy"] == told["PRTE_MCA_hwloc_default_binding_policy"] == bound
        assert told["OMPI_MCA_plm_rsh_agent"] == told["PRTE_MCA_plm_ssh_agent"]
        assert told["OMPI_MCA_oob_tcp_if_include"] == told["PRTE_MCA_prte_if_include"] == "eth0"
        assert told["PRTE_MCA_prte_default_hostfile"] == "/etc/mpi/hostfile"


def test_pull_secret_is_named_only_where_there_is_one() -> None:
    """An empty name would be refused."""
    assert [each.image_pull_secrets for each in (launch(pull_secret="pull"), launch(pull_secret=""))] == [
        [{"name": "pull"}],
        [],
    ]


def test_name_and_files_tell_runtime_and_hardware() -> None:
    """The version and the hardware are in the name; the runtime's file comes first among the origins."""
    each: Launch = launch(version=7)

    assert each.name == "openmpi-cuda-v7-small"
    assert each.files == ("profiles/runtimes/openmpi-cuda.yaml", "profiles/hardware/small.yaml")


def test_users_are_told_of_the_libraries() -> None:
    """All of them, in one line; and the labels that SDKs list runtimes by."""
    each = launch(libraries={"cuda": "12.6", "openmpi": "4.1.6"}, framework="torch")

    assert each.annotations["ml.example.com/libraries"] == "cuda=12.6 openmpi=4.1.6"
    assert each.labels["trainer.kubeflow.org/framework"] == "torch"
    assert launch(shared_memory=64 << 30).shared_memory == "64Gi"
