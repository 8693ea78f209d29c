"""Environment of the ranks and of what starts them."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.model.shapes import fabric, launch, node, nodes
from trainyard.model.hardware import Hardware
from trainyard.model.launch import Launch
from trainyard.model.launcher import INTEL_MPI, OPENMPI, TORCHRUN
from trainyard.model.link import ROCE
from trainyard.render.views.launch import LaunchView

IB = fabric()
FOUR, FIVE = ({"openmpi": version} for version in ("4.1.6", "5.0.10"))


def variables(environment: list[dict[str, str]]) -> dict[str, str]:
    """Return an environment by name; no name may be in it twice."""
    named = {each["name"]: each["value"] for each in environment}
    assert len(named) == len(environment)
    return named


def ranks(each: Launch) -> dict[str, str]:
    """Return the environment of every rank."""
    return variables(LaunchView(each).rank_environment)


@pytest.mark.parametrize(("gpu", "rails"), list(product((False, True), repeat=2)))
def test_rank_environment_follows_the_node(gpu: bool, rails: bool) -> None:
    """NCCL gets the pod's interface where GPUs are, and the rails where rails are; nothing
    else is set."""
    small = node()
    each = launch(node(gpu=small.gpu if gpu else None, nics=small.nics if rails else ()), on=IB)
    launcher = variables(LaunchView(each).launcher_environment)

    nccl = {"NCCL_DEBUG", "NCCL_SOCKET_IFNAME"} if gpu else set()
    fabric_ = {"UCX_TLS"} if rails else set()
    assert ranks(each).keys() == {"HOME", "OMP_NUM_THREADS"} | nccl | fabric_
    assert ranks(each).get("NCCL_SOCKET_IFNAME", "=eth0") == "=eth0"
    assert list(ranks(each)) == sorted(ranks(each))
    assert ranks(each).items() <= launcher.items()
    assert launcher.get("OMPI_MCA_pml") == ("ucx" if rails else None)


@pytest.mark.parametrize("binding", ["cores", "none"])
def test_openmp_has_the_cores_of_a_rank(binding: str) -> None:
    """Unbound ranks see each CPU of the pod, so OpenMP would start a thread for each."""
    for number in (1, 2, 3, 8, 500):
        each = launch(on=IB, ranks=number, binding=binding)
        assert int(ranks(each)["OMP_NUM_THREADS"]) == max(each.cores // each.ranks, 1)


def test_torchrun_sets_the_threads_itself() -> None:
    assert "OMP_NUM_THREADS" not in ranks(launch(launcher=TORCHRUN))


def test_gpudirect_lets_cards_read_gpu_memory() -> None:
    """RDMA from GPU to GPU: nothing is forbidden, and UCX may copy by GPU and by GDR."""
    environment = ranks(launch(on=IB, fabric="gpudirect"))

    assert environment["UCX_TLS"].split(",") == [
        "rc",
        "sm",
        "self",
        "cuda_copy",
        "cuda_ipc",
        "gdr_copy",
    ]
    assert (
        environment.keys()
        & {"NCCL_NET_GDR_LEVEL", "UCX_IB_GPU_DIRECT_RDMA", "NCCL_IB_DISABLE", "NCCL_NET"}
        == set()
    )


def test_rdma_uses_host_memory() -> None:
    """The cards never read GPU memory, for NCCL and for UCX, but the rails are used."""
    environment = ranks(launch(on=IB, fabric="rdma"))

    assert (environment["NCCL_NET_GDR_LEVEL"], environment["UCX_IB_GPU_DIRECT_RDMA"]) == (
        "LOC",
        "no",
    )
    assert "gdr_copy" not in environment["UCX_TLS"].split(",")
    assert "NCCL_IB_DISABLE" not in environment


@pytest.mark.parametrize("mode", ["tcp", "isolated"])
def test_sockets_leave_the_cards_alone(mode: str) -> None:
    """NCCL would else look for InfiniBand that the pod doesn't have; Open MPI is not told to use
    UCX."""
    each = launch(on=IB, fabric=mode)

    assert (ranks(each)["NCCL_IB_DISABLE"], ranks(each)["NCCL_NET"]) == ("1", "Socket")
    assert ranks(each).keys() & {"NCCL_IB_HCA", "UCX_TLS"} == set()
    assert "OMPI_MCA_pml" not in variables(LaunchView(each).launcher_environment)


@pytest.mark.parametrize("mode", ["gpudirect", "rdma", "tcp", "isolated"])
def test_only_isolated_ranks_have_no_peers(mode: str) -> None:
    """Neither NVLink nor PCIe: what shares a node then talks through /dev/shm."""
    assert ("NCCL_P2P_DISABLE" in ranks(launch(on=IB, fabric=mode))) is (mode == "isolated")


@pytest.mark.parametrize("mode", ["gpudirect", "rdma", "tcp", "isolated"])
def test_nodes_without_gpus_have_no_variable_of_nccl(mode: str) -> None:
    """There is no NCCL; only UCX gets the rails."""
    each = launch(node(gpu=None, nics=()), fabric=mode)

    assert not [name for name in ranks(each) if name.startswith(("NCCL_", "UCX_"))]


@given(st.integers(0, 255))
def test_traffic_class_is_set_for_both_libraries(traffic_class: int) -> None:
    """A lossless queue of the switches is chosen by it; -1 leaves what the driver has, and 0 is a
    class as well."""
    environment = ranks(launch(on=fabric(ROCE, traffic_class=traffic_class)))
    names = ("NCCL_IB_TC", "UCX_IB_TRAFFIC_CLASS")

    assert [environment[name] for name in names] == [str(traffic_class)] * 2
    assert ranks(launch(on=fabric(ROCE))).keys() & set(names) == set()


@given(nodes(), st.sampled_from(["cores", "none"]))
def test_both_versions_of_open_mpi_have_the_same_settings(hardware: Hardware, binding: str) -> None:
    """Open MPI 4 and 5 read other names and must do one thing: cores of each rank, binding, ssh,
    interface."""
    four, five = (
        variables(
            LaunchView(launch(hardware, binding=binding, libraries=version)).launcher_environment
        )
        for version in (FOUR, FIVE)
    )
    mapping = f"slot:PE={launch(hardware).cores_per_rank}" if binding == "cores" else "slot"
    bound = "core" if binding == "cores" else "none"

    assert (
        four["OMPI_MCA_rmaps_base_mapping_policy"]
        == five["PRTE_MCA_rmaps_default_mapping_policy"]
        == mapping
    )
    assert (
        four["OMPI_MCA_hwloc_base_binding_policy"]
        == five["PRTE_MCA_hwloc_default_binding_policy"]
        == bound
    )
    assert four["OMPI_MCA_plm_rsh_agent"] == five["PRTE_MCA_plm_ssh_agent"]
    assert four["OMPI_MCA_oob_tcp_if_include"] == five["PRTE_MCA_prte_if_include"] == "eth0"
    assert four["OMPI_MCA_btl_tcp_if_include"] == five["OMPI_MCA_btl_tcp_if_include"] == "eth0"
    assert five["PRTE_MCA_prte_default_hostfile"] == "/etc/mpi/hostfile"
    assert (five["PRTE_MCA_plm_ssh_args"], five["PRTE_MCA_plm_ssh_no_tree_spawn"]) == (
        "-o ConnectionAttempts=10",
        "1",
    )


@pytest.mark.parametrize("version", ["5", "5.0", "5.0.6", "5.0.9", "5.0.9rc1"])
def test_open_mpi_before_5_0_10_binds_to_sockets(version: str) -> None:
    """It starts nothing if the default mapping has a number of cores (seen with 5.0.7, 5.0.9)."""
    each = launch(libraries={"openmpi": version})
    environment = variables(LaunchView(each).launcher_environment)

    assert environment["PRTE_MCA_rmaps_default_mapping_policy"] == "package"
    assert "PRTE_MCA_hwloc_default_binding_policy" not in environment
    assert not each.runtime.binds
    assert "PE=" not in "".join(environment.values())


@pytest.mark.parametrize("version", ["4.1.6", "5.0.10", "5.1.0", "50.0.1"])
def test_other_versions_bind_to_cores(version: str) -> None:
    assert launch(libraries={"openmpi": version}).runtime.binds


def test_each_version_of_open_mpi_has_its_own_names() -> None:
    """What the other version reads would only look like a setting."""
    four, five = (
        variables(LaunchView(launch(libraries=version)).launcher_environment)
        for version in (FOUR, FIVE)
    )

    assert not [name for name in four if name.startswith("PRTE_")]
    assert {name for name in five if name.startswith("OMPI_")} == {"OMPI_MCA_btl_tcp_if_include"}
    assert "PRTE_MCA_prte_default_hostfile" in five


@given(st.integers(0, 40), st.integers(0, 99))
def test_major_version_alone_decides(major: int, minor: int) -> None:
    """4.10 is 4, 50.1 is not 5; an unknown version gets neither set."""
    environment = variables(
        LaunchView(launch(libraries={"openmpi": f"{major}.{minor}"})).launcher_environment
    )

    assert ("OMPI_MCA_plm_rsh_agent" in environment) is (major == 4)
    assert ("PRTE_MCA_plm_ssh_agent" in environment) is (major == 5)


@pytest.mark.parametrize("launcher", [INTEL_MPI, TORCHRUN])
def test_open_mpis_variables_are_for_open_mpi(launcher: object) -> None:
    """Other launchers get nothing of them, whatever libraries the image has beside."""
    each = launch(
        on=IB,
        launcher=launcher,
        libraries={"openmpi": "5.0.6", "torch": "2.6.0", "intel-mpi": "2021.13"},
    )

    assert not [
        name
        for name in variables(LaunchView(each).launcher_environment)
        if name.startswith(("OMPI_", "PRTE_"))
    ]


def test_only_mpi_ranks_have_the_home_of_their_account() -> None:
    """The account that sshd needs is made for MPI alone; torchrun's pods have a volume, and a
    user's name."""
    environments = [ranks(launch(launcher=launcher)) for launcher in (OPENMPI, INTEL_MPI, TORCHRUN)]

    assert [each["HOME"] for each in environments] == [
        "/home/mpiuser",
        "/home/mpiuser",
        "/home/ranks",
    ]
    assert [each.get("USER") for each in environments] == [None, None, "ranks"]
