"""Environment of ranks and of what starts them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from trainyard.model.accelerator import NVIDIA, Maker
from trainyard.model.expansion import literal
from trainyard.model.fabric import Fabric, RailFabric
from trainyard.model.launcher import INTEL_MPI, OPENMPI
from trainyard.model.runtime import Runtime

POD_INTERFACE = "eth0"
HOSTFILE = "/etc/mpi/hostfile"
_SSH_OPTIONS = (
    "-l mpiuser -p 2222 -i /home/mpiuser/.ssh/id_rsa -o StrictHostKeyChecking=no"
    " -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
)

RANKS_HOME = "/home/ranks"
"""Home of ranks without MPI, and the folder in which their command starts: a volume of the pod."""

Environment = dict[str, str]

NVLINK = {"NCCL_CUMEM_ENABLE": "1", "NCCL_MNNVL_ENABLE": "1"}
"""Variables of ranks with NVLink between nodes: without it NCCL fails, and does not fall back
(coreweave/nccl-tests:mpi-operator@cb86553; NCCL documentation, NCCL_MNNVL_ENABLE)."""


def home(runtime: Runtime) -> str:
    """Return the home of ranks: of sshd's account, or a volume where the uid has no account."""
    return "/home/mpiuser" if runtime.launcher.mpi else RANKS_HOME


def rank_environment(
    runtime: Runtime, maker: Maker | None, cores_per_rank: int, fabric: Fabric | None
) -> Environment:
    """Return the environment of every rank.

    Args:
        runtime: whose ranks.
        maker: of the GPUs of a pod; None without GPUs.
        cores_per_rank: of a pod's cores, whether the rank is bound to them or not.
        fabric: that the pods are attached to; None when they are on none.
    """
    environment = {"HOME": home(runtime)}
    if runtime.launcher.mpi:
        # OpenMP else starts a thread for each CPU that a rank may use: of an unbound rank, for each
        # of the pod. torchrun sets the variable itself.
        environment["OMP_NUM_THREADS"] = str(max(cores_per_rank, 1))
    else:
        # Without an account, Python's getpass has no other source, and torch names a cache after
        # the user.
        environment["USER"] = "ranks"
    if maker:
        environment |= {"NCCL_DEBUG": "WARN", "NCCL_SOCKET_IFNAME": f"={POD_INTERFACE}"}
    if fabric is not None:
        environment |= _rdma(runtime, maker, fabric)
    elif maker and not runtime.uses_rdma:
        environment |= {"NCCL_IB_DISABLE": "1", "NCCL_NET": "Socket"}
    if maker and runtime.fabric == "isolated":
        # Neither NVLink nor PCIe peers: what remains is /dev/shm and sockets.
        environment["NCCL_P2P_DISABLE"] = "1"
    return environment


def _rdma(runtime: Runtime, maker: Maker | None, fabric: Fabric) -> Environment:
    # NCCL_IB_HCA is left out. In exclusive RDMA mode a pod has its own VFs and no other device, and
    # the host's udev rules choose their names: mlx5_2 here, rocep26s0f0v1 there.
    environment = dict(fabric.provider.environment)
    memory = maker or NVIDIA
    transports = ("rc", "sm", "self", *memory.transports)
    if fabric.provider.ucx:
        environment["UCX_TLS"] = ",".join((*transports, *memory.copies))
    if runtime.fabric == "rdma":
        # Through the host's memory: LOC means never (NCCL documentation, NCCL_NET_GDR_LEVEL).
        environment["NCCL_NET_GDR_LEVEL"] = "LOC"
        if fabric.provider.ucx:
            environment["UCX_IB_GPU_DIRECT_RDMA"] = "no"
            environment["UCX_TLS"] = ",".join(transports)
    if isinstance(fabric, RailFabric) and fabric.traffic_class >= 0:
        environment |= {
            "NCCL_IB_TC": str(fabric.traffic_class),
            "UCX_IB_TRAFFIC_CLASS": str(fabric.traffic_class),
        }
    return environment


def ssh(fips: bool) -> str:
    """Return the command that reaches a node's sshd."""
    return " ".join(filter(None, ("ssh", _SSH_OPTIONS, _FIPS_OPTIONS if fips else "")))


_FIPS_OPTIONS = (
    "-o Ciphers=aes256-gcm@openssh.com,aes128-gcm@openssh.com,aes256-ctr,aes128-ctr -o "
    "MACs=hmac-sha2-256-etm@openssh.com,hmac-sha2-512-etm@openssh.com,hmac-sha2-256,hmac-sha2-512 "
    "-o KexAlgorithms=ecdh-sha2-nistp521,ecdh-sha2-nistp384,ecdh-sha2-nistp256 -o "
    "HostKeyAlgorithms=ecdsa-sha2-nistp521 -o PubkeyAcceptedAlgorithms=ecdsa-sha2-nistp521"
)
"""Algorithms that FIPS 140-3 approves, for the keys that Trainer makes (ECDSA P-521); the node's
sshd has the same."""


def launcher_environment(
    runtime: Runtime, cores_per_rank: int, fabric: Fabric | None, fips: bool
) -> Environment:
    """Return what the launcher obeys, beside the environment of the ranks.

    Args:
        runtime: whose launcher.
        cores_per_rank: that each rank is bound to, if the runtime binds them.
        fabric: over which ranks talk by RDMA; None where they use sockets.
        fips: whether the nodes run in FIPS mode.
    """
    bound = f"slot:PE={cores_per_rank}" if runtime.binds else ""
    start = _LAUNCHERS.get((runtime.launcher.name, runtime.launcher_version.partition(".")[0]))
    environment = start(bound, ssh(fips)) if start else {}
    if runtime.binds_to_sockets:
        environment = _on_sockets(environment)
    if fabric is not None:
        environment |= fabric.provider.launcher.get(runtime.launcher.name, {})
    return environment


def _openmpi_4(bound: str, agent: str) -> Environment:
    """Return the variables of ORTE; Trainer sets its hostfile, and that it keeps whole names."""
    return {
        "OMPI_MCA_btl_tcp_if_include": POD_INTERFACE,
        "OMPI_MCA_hwloc_base_binding_policy": "core" if bound else "none",
        "OMPI_MCA_oob_tcp_if_include": POD_INTERFACE,
        "OMPI_MCA_plm_rsh_agent": agent,
        "OMPI_MCA_rmaps_base_mapping_policy": bound or "slot",
    }


def _openmpi_5(bound: str, agent: str) -> Environment:
    """Return the variables of PRRTE, which silently ignores those of Open MPI 4.

    Without a hostfile of its own all ranks run on the launcher.
    """
    return {
        "OMPI_MCA_btl_tcp_if_include": POD_INTERFACE,
        "PRTE_MCA_hwloc_default_binding_policy": "core" if bound else "none",
        "PRTE_MCA_plm_ssh_agent": agent,
        "PRTE_MCA_plm_ssh_args": "-o ConnectionAttempts=10",
        # It cuts a forwarded value at its first `=`, so a node could not start another node's
        # ranks.
        "PRTE_MCA_plm_ssh_no_tree_spawn": "1",
        "PRTE_MCA_prte_default_hostfile": HOSTFILE,
        "PRTE_MCA_prte_if_include": POD_INTERFACE,
        "PRTE_MCA_rmaps_default_mapping_policy": bound or "slot",
    }


def _on_sockets(environment: Environment) -> Environment:
    """Return PRRTE's variables with each rank bound to the socket that it is mapped to.

    A binding policy would make a job fail that states cores (``--map-by slot:PE=``).
    """
    changed = environment | {"PRTE_MCA_rmaps_default_mapping_policy": "package"}
    del changed["PRTE_MCA_hwloc_default_binding_policy"]
    return changed


def _intel_mpi(bound: str, agent: str) -> Environment:
    """Return the variables of Hydra, with sockets between nodes; a script adds hosts and ranks."""
    return {
        "FI_PROVIDER": "tcp",
        "FI_TCP_IFACE": POD_INTERFACE,
        "I_MPI_FABRICS": "shm:ofi",
        "I_MPI_HYDRA_BOOTSTRAP": "ssh",
        "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS": agent.removeprefix("ssh "),
        # No tree above 128 hosts: it would need an sshd on the launcher.
        "I_MPI_HYDRA_BRANCH_COUNT": "0",
        # A bare mpirun then refuses Trainer's file; with none it would run all ranks on the
        # launcher, exit code 0.
        "I_MPI_HYDRA_HOST_FILE": HOSTFILE,
        # Nodes can't resolve the launcher's short name: without it they look for that.
        "I_MPI_HYDRA_IFACE": POD_INTERFACE,
        "I_MPI_PIN": "1" if bound else "0",
    }


_LAUNCHERS: Mapping[tuple[str, str], Callable[[str, str], Environment]] = {
    (INTEL_MPI.name, "2021"): _intel_mpi,
    (OPENMPI.name, "4"): _openmpi_4,
    (OPENMPI.name, "5"): _openmpi_5,
}
"""By launcher and major version; torchrun has all that it needs from Trainer."""


def variables(environment: Mapping[str, str]) -> list[dict[str, str]]:
    """Return an environment as a container has it."""
    return [{"name": name, "value": literal(value)} for name, value in sorted(environment.items())]


JOB_FOLDER: dict[str, Any] = {
    "name": "TRAINYARD_JOB",
    "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['jobset.sigs.k8s.io/jobset-name']"}},
}
"""The job's name, as JobSet labels each pod of it: its folder on the volume that steps and ranks
share."""
