"""Variables that name the network of one cluster."""

from __future__ import annotations

from trainyard_jobs.convert.words import words

_NAMES = words(
    """
    FI_PROVIDER FI_TCP_IFACE GLOO_SOCKET_IFNAME I_MPI_FABRICS I_MPI_HYDRA_IFACE NCCL_IB_DISABLE
    NCCL_IB_GID_INDEX NCCL_IB_HCA NCCL_IB_TC NCCL_NET NCCL_SOCKET_IFNAME UCX_IB_GID_INDEX
    UCX_IB_TRAFFIC_CLASS UCX_NET_DEVICES UCX_TLS
    """
)
_PREFIXES = ("FI_EFA_",)

MEANING = "it names another cluster's network; the runtime sets what its own needs"


def is_of_a_fabric(name: str) -> bool:
    """Return whether a variable of a job would hide what the runtime sets for its network."""
    return name in _NAMES or name.startswith(_PREFIXES)
