"""A runtime on one hardware profile: what becomes a ClusterTrainingRuntime."""

from __future__ import annotations

from dataclasses import dataclass

from generator.model import names
from generator.model.hardware import Hardware
from generator.model.quantity import format_amount, format_bytes
from generator.model.release import Release
from generator.model.runtime import Runtime

_POD_INTERFACE = "eth0"
_SSH = (
    "ssh -l mpiuser -p 2222 -i /home/mpiuser/.ssh/id_rsa -o StrictHostKeyChecking=no"
    " -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
)


@dataclass(frozen=True, slots=True)
class Launch:
    """A runtime on the nodes of one hardware profile.

    Args:
        topology: node label of the level that ranks should share; empty without a topology.
        domain: prefix of our own labels and annotations.
    """

    runtime: Runtime
    hardware: Hardware
    release: Release
    topology: str
    domain: str

    @property
    def name(self) -> str:
        """Name of the ClusterTrainingRuntime."""
        return names.runtime(self.runtime.name, self.runtime.version, self.hardware.name)

    @property
    def files(self) -> tuple[str, ...]:
        """The profile files that made it."""
        return (self.runtime.at.file, *self.hardware.files)

    @property
    def account(self) -> str:
        """Service account of the ranks."""
        return names.JOB_ACCOUNT

    @property
    def labels(self) -> dict[str, str]:
        """Labels: SDKs list runtimes by framework; the support state warns at submission when it changes."""
        return {
            "app.kubernetes.io/managed-by": "trainyard",
            f"{self.domain}/runtime": self.runtime.name,
            "trainer.kubeflow.org/framework": self.runtime.framework,
            "trainer.kubeflow.org/support": "supported",
        }

    @property
    def annotations(self) -> dict[str, str]:
        """What a user wants to know of the image."""
        return {
            f"{self.domain}/docs": self.runtime.docs,
            f"{self.domain}/libraries": " ".join(map("=".join, self.runtime.libraries.items())),
            "openshift.io/display-name": self.runtime.display_name,
        }

    @property
    def ranks(self) -> int:
        """Ranks of a whole node: one a GPU, or one a core."""
        return self.hardware.gpus or self.hardware.promised_cores

    @property
    def cores_per_rank(self) -> int:
        """Cores that each rank of a whole node is bound to."""
        return self.hardware.promised_cores // self.ranks

    @property
    def threads_per_rank(self) -> int:
        """Hardware threads that a rank must find in its pod: Open MPI 5 would leave out ranks in silence."""
        return (
            self.cores_per_rank * self.hardware.threads // self.hardware.cores if self.runtime.binding == "cores" else 1
        )

    @property
    def per_node(self) -> dict[str, int]:
        """What the pod of a whole node asks for, in base units."""
        return self.hardware.whole_node_pod(self.release.resource_prefix)

    @property
    def resources(self) -> dict[str, dict[str, str]]:
        """Requests equal to limits: the pod is Guaranteed, so the CPU manager gives it cores of its own."""
        amounts = {name: format_amount(name, amount) for name, amount in self.per_node.items()}
        return {"limits": amounts, "requests": amounts}

    @property
    def account_resources(self) -> dict[str, dict[str, str]]:
        """Of the init container that writes the account; equal too, or the pod would not be Guaranteed."""
        amounts = {"cpu": "1", "memory": "128Mi"}
        return {"limits": amounts, "requests": amounts}

    @property
    def shared_memory(self) -> str:
        """Size of /dev/shm."""
        return format_bytes(self.runtime.shared_memory)

    @property
    def image_pull_secrets(self) -> list[dict[str, str]]:
        """The pull secret, by the name that it has in every team's namespace."""
        return [{"name": self.runtime.pull_secret}] if self.runtime.pull_secret else []

    @property
    def launcher_annotations(self) -> dict[str, str]:
        """Annotations of the launcher's pod: networks, SCC, and the level of the topology that ranks should share."""
        annotations = {"openshift.io/required-scc": self.release.job_scc}
        if self.hardware.rails:
            rails = range(len(self.hardware.rails))
            annotations["k8s.v1.cni.cncf.io/networks"] = ",".join(names.network(self.hardware.name, i) for i in rails)
        if self.topology:
            annotations["kueue.x-k8s.io/podset-preferred-topology"] = self.topology
        if self._grouped:
            annotations["kueue.x-k8s.io/podset-group-name"] = "job"
        return dict(sorted(annotations.items()))

    @property
    def _grouped(self) -> bool:
        """Whether Kueue places launcher and nodes as one group; where it can't, each by itself, in order."""
        return bool(self.topology) and self.release.groups_podsets

    @property
    def node_annotations(self) -> dict[str, str]:
        """Annotations of the nodes' pods.

        The offset keeps ranks in order in a group: without it Kueue counts the nodes from 1, finds a rank below 0 and
        places them in any order (seen on Kueue 0.16.2 and 0.19.2).
        """
        order = {"kueue.x-k8s.io/pod-index-offset": "-1"} if self._grouped else {}
        return dict(sorted({**self.launcher_annotations, **order}.items()))

    @property
    def rank_environment(self) -> list[dict[str, str]]:
        """Environment of every rank: set on both containers, and handed on by the node's sshd."""
        environment = {"HOME": "/home/mpiuser"}
        if self.hardware.gpus:
            environment |= {"NCCL_DEBUG": "WARN", "NCCL_SOCKET_IFNAME": f"={_POD_INTERFACE}"}
        if self.hardware.rails:
            # Exclusive RDMA mode: the pod has no other mlx5 device than its own VFs.
            environment |= {"NCCL_IB_HCA": "mlx5", "UCX_TLS": "rc,sm,self,cuda_copy,cuda_ipc,gdr_copy"}
        return _variables(environment)

    @property
    def launcher_environment(self) -> list[dict[str, str]]:
        """What mpirun obeys, in the names of Open MPI 4 and of 5, which ignores the others in silence.

        Trainer sets the hostfile for 4 only; with 5 and no name of its own all ranks would run on the launcher.
        """
        bound = self.runtime.binding == "cores"
        mapping, binding = (f"slot:PE={self.cores_per_rank}", "core") if bound else ("slot", "none")
        mpi = {
            "OMPI_MCA_btl_tcp_if_include": _POD_INTERFACE,
            "OMPI_MCA_hwloc_base_binding_policy": binding,
            "OMPI_MCA_oob_tcp_if_include": _POD_INTERFACE,
            "OMPI_MCA_plm_rsh_agent": _SSH,
            "OMPI_MCA_rmaps_base_mapping_policy": mapping,
            "PRTE_MCA_hwloc_default_binding_policy": binding,
            "PRTE_MCA_plm_ssh_agent": _SSH,
            # It cuts a forwarded value at its first `=`, so a node could not start another node's ranks.
            "PRTE_MCA_plm_ssh_no_tree_spawn": "1",
            "PRTE_MCA_plm_ssh_args": "-o ConnectionAttempts=10",
            "PRTE_MCA_prte_default_hostfile": "/etc/mpi/hostfile",
            "PRTE_MCA_prte_if_include": _POD_INTERFACE,
            "PRTE_MCA_rmaps_default_mapping_policy": mapping,
        }
        if self.hardware.rails:
            mpi["OMPI_MCA_pml"] = "ucx"
        return [*self.rank_environment, *_variables(mpi)]


def _variables(environment: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in sorted(environment.items())]
