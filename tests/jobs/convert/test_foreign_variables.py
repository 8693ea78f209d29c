"""Variables that mean another cluster, image or launcher are left out by every converter."""

from __future__ import annotations

import pytest

from trainyard_jobs.convert.options import variable
from trainyard_jobs.convert.slurm.variables import reason_to_drop
from trainyard_jobs.convert.words import words

OF_A_FABRIC = """
    FI_EFA_USE_DEVICE_RDMA FI_PROVIDER FI_TCP_IFACE GLOO_SOCKET_IFNAME I_MPI_FABRICS
    I_MPI_HYDRA_IFACE NCCL_FASTRAK_CTRL_DEV NCCL_GPUDIRECTTCPX_SOCKET_IFNAME NCCL_IB_ADDR_FAMILY
    NCCL_IB_ADDR_RANGE NCCL_IB_DISABLE NCCL_IB_GID_INDEX NCCL_IB_HCA NCCL_IB_PKEY
    NCCL_IB_ROCE_VERSION_NUM NCCL_IB_SL NCCL_IB_TC NCCL_NET NCCL_NET_PLUGIN NCCL_SOCKET_IFNAME
    NCCL_TOPO_FILE NVSHMEM_HCA_LIST TP_SOCKET_IFNAME UCX_IB_GID_INDEX UCX_IB_PKEY UCX_IB_SL
    UCX_IB_TRAFFIC_CLASS UCX_NET_DEVICES UCX_TLS
"""
OF_AN_IMAGE = "LD_LIBRARY_PATH LD_PRELOAD OPAL_PREFIX PATH"
OF_A_LAUNCHER = "HYDRA_BOOTSTRAP HYDRA_HOST_FILE HYDRA_LAUNCHER I_MPI_HYDRA_BOOTSTRAP"
KEPT = """
    CUDA_VISIBLE_DEVICES HYDRA_FULL_ERROR NCCL_ALGO NCCL_DEBUG NCCL_IB_QPS_PER_CONNECTION
    NCCL_IB_TIMEOUT NCCL_MIN_NCHANNELS OMP_NUM_THREADS PATHOLOGY_DATA PYTHONPATH UCX_LOG_LEVEL
    XPATH
"""


@pytest.mark.parametrize("name", sorted(words(f"{OF_A_FABRIC} {OF_AN_IMAGE} {OF_A_LAUNCHER}")))
def test_foreign_variable_is_left_out_by_one_rule(name: str) -> None:
    assert variable(name, "x")
    assert reason_to_drop(name, "x") == variable(name, "x")


@pytest.mark.parametrize("name", sorted(words(KEPT)))
def test_variable_of_the_program_is_kept(name: str) -> None:
    assert not variable(name, "x")
    assert not reason_to_drop(name, "x")


@pytest.mark.parametrize(
    ("name", "value", "stays"),
    [
        ("OMPI_MCA_btl_openib_if_include", "mlx5_0", False),
        ("OMPI_MCA_btl", "tcp,self", False),
        ("OMPI_MCA_btl_vader_single_copy_mechanism", "none", True),
        ("OMPI_MCA_mtl", "psm2", False),
        ("OMPI_MCA_mtl_ofi_provider_include", "psm2", False),
        ("OMPI_MCA_pml", "ob1", False),
        ("OMPI_MCA_pml", "ucx", True),
        ("PRTE_MCA_prte_if_include", "eth1", False),
        ("PRTE_MCA_plm_ssh_agent", "rsh", False),
        ("OMPI_MCA_rmaps_base_oversubscribe", "1", True),
        ("OMPI_MCA_coll_hcoll_enable", "0", True),
    ],
)
def test_parameter_of_open_mpi_stays_where_no_runtime_sets_it(
    name: str, value: str, stays: bool
) -> None:
    assert bool(variable(name, value)) != stays
