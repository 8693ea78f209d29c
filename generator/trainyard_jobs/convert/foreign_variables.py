"""Variables of a job that mean another cluster, another image or another way to start ranks.

Sources: the environment variables of NVIDIA/nccl (src/transport/net_ib.cc, socket.cc), of
openucx/ucx (src/uct/ib), of libfabric and Intel MPI; pmodels/mpich:src/pm/hydra.
"""

from __future__ import annotations

import re

MEANING = "it names another cluster's network; the runtime sets what its own needs"
_OF_FABRIC = re.compile(
    r"\w+_(?:IFNAME|IFACE)"
    r"|NCCL_IB_(?:ADDR_\w+|DISABLE|FIFO_TC|GID_INDEX|HCA|IS_GLOBAL|PKEY|ROCE_\w+|SL|SUBNET_\w+|TC)"
    r"|NCCL_(?:COMM_ID|NET|NET_PLUGIN|SOCKET_FAMILY|TOPO_FILE|TUNER_CONFIG_PATH|TUNER_PLUGIN)"
    r"|NCCL_(?:FASTRAK|GPUDIRECTTCPX)_\w+"
    r"|NVSHMEM_(?:HCA|IB)_\w+"
    r"|UCX_IB_(?:ADDR_TYPE|GID_INDEX|PKEY|ROCE_\w+|SL|SUBNET_\w+|TRAFFIC_CLASS)"
    r"|UCX_(?:NET_DEVICES|TLS)"
    r"|FI_PROVIDER|FI_(?:CXI|EFA|OPX|PSM2|PSM3)_\w+"
    r"|HCOLL_MAIN_IB|MXM_\w+|PSM2?_\w+|RDMAV_\w+"
    r"|I_MPI_(?:FABRICS|FABRICS_LIST|OFI_PROVIDER|TCP_NETMASK|(?:DAPL|OFA|TMI)_\w+)"
)
_REASONS = {
    r"LD_LIBRARY_PATH|PATH|MODULEPATH|LD_PRELOAD|CUDA_HOME|MANPATH|CPATH": (
        "it belongs into the image, whose folders are others"
    ),
    r"(?:OPAL|PMIX|PRTE)_PREFIX|I_MPI_ROOT": "it names the folder of another image's MPI",
    r"I_MPI_(?:PMI_LIBRARY|PMI\w*|HYDRA\w*)"
    r"|HYDRA_(?:BOOTSTRAP|BOOTSTRAP_EXEC|HOST_FILE|LAUNCHER|LAUNCHER_EXEC|RMK)"
    r"|HYDRA_LAUNCH(?:ER)?_EXTRA_ARGS": "the runtime sets how its ranks are started",
    r"OMPI_ALLOW_RUN_AS_ROOT\w*": "no container runs as root",
}


def is_of_a_fabric(name: str) -> bool:
    """Return whether a variable of a job would hide what the runtime sets for its network."""
    return _OF_FABRIC.fullmatch(name) is not None


def reason_to_drop(name: str) -> str:
    """Return why a variable is left out whatever its value is; empty for one that is kept."""
    if is_of_a_fabric(name):
        return MEANING
    for pattern, reason in _REASONS.items():
        if re.fullmatch(pattern, name):
            return reason
    return ""
