"""A runtime on some nodes: what becomes a ClusterTrainingRuntime."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from trainyard.model import names
from trainyard.model.environment import (
    JOB_FOLDER,
    home,
    launcher_environment,
    rank_environment,
    variables,
)
from trainyard.model.fabric import Fabric
from trainyard.model.hardware import Hardware
from trainyard.model.quantity import format_amount, format_bytes
from trainyard.model.release import Release
from trainyard.model.runtime import Runtime


@dataclass(frozen=True, slots=True)
class Launch:
    """A runtime on the nodes of one hardware profile, or of several that it may be given in turn.

    Args:
        hardware: of the nodes; of several kinds, the least that all of them give.
        fabric: that the nodes' rails are plugged into; None where there is none.
        part: of a node that one pod asks for.
        owner: namespace whose networks it attaches to; empty where they have the same names in
            every namespace.
        domain: prefix of our own labels and annotations.
        fips: whether the nodes run in FIPS mode.
    """

    runtime: Runtime
    hardware: Hardware
    fabric: Fabric | None
    release: Release
    part: Fraction
    owner: str
    domain: str
    fips: bool

    @property
    def name(self) -> str:
        """Name of the ClusterTrainingRuntime."""
        return names.runtime(self.runtime.family, self.runtime.version, self.nodes, self.owner)

    @property
    def nodes(self) -> str:
        """What its pods run on: a hardware profile, a class of node, a part of a node."""
        return self.hardware.name if self.part == 1 else f"{self.hardware.name}-{self.gpus}gpu"

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
        """Labels: SDKs list runtimes by framework; a deprecated one warns at each submission."""
        return {
            "app.kubernetes.io/managed-by": "trainyard",
            f"{self.domain}/runtime": self.runtime.name,
            "trainer.kubeflow.org/framework": self.runtime.framework,
            "trainer.kubeflow.org/support": "deprecated" if self.runtime.end else "supported",
        }

    @property
    def annotations(self) -> dict[str, str]:
        """What a user wants to know of the image."""
        annotations = {
            f"{self.domain}/libraries": " ".join(map("=".join, self.runtime.libraries.items())),
            self.release.display_name_key
            or f"{self.domain}/display-name": self.runtime.display_name,
        }
        if self.runtime.docs:
            annotations[f"{self.domain}/docs"] = self.runtime.docs
        if self.runtime.end:
            annotations[f"{self.domain}/deprecated-until"] = self.runtime.end
        return dict(sorted(annotations.items()))

    @property
    def rails(self) -> range:
        """Rails that a pod attaches to, by number."""
        return range(len(self.hardware.rails) if self.fabric and self.runtime.uses_rdma else 0)

    @property
    def gpus(self) -> int:
        """GPUs of a pod."""
        return int(self.hardware.gpus * self.part)

    @property
    def cores(self) -> int:
        """Whole cores of a pod."""
        return self.per_node["cpu"] // 1000 * self.hardware.cores // self.hardware.threads

    @property
    def ranks(self) -> int:
        """Ranks of a pod: its part of those that the runtime states, else one a GPU, or one a core."""
        return int(self.runtime.ranks * self.part) or self.gpus or self.cores

    @property
    def most_ranks(self) -> int:
        """Ranks that a pod has room for: one a core where they are bound, else one a hardware thread."""
        return self.cores if self.runtime.binds else self.per_node["cpu"] // 1000

    @property
    def cores_per_rank(self) -> int:
        """Cores that each rank is bound to."""
        return self.cores // self.ranks

    @property
    def threads_per_rank(self) -> int:
        """Hardware threads that a rank must find in its pod: Open MPI 5 would leave out ranks in silence."""
        return (
            self.cores_per_rank * self.hardware.threads // self.hardware.cores
            if self.runtime.binds
            else 1
        )

    @property
    def per_node(self) -> dict[str, int]:
        """What a pod of ranks asks for, in base units: its part of all that a node gives, and one VF of each rail.

        What the job's steps ask for is left out: Kueue counts them all beside the ranks from the
        beginning, so else the largest job would never fit its quota, nor the steps the job's nodes
        (seen with Kueue 0.16.2).
        """
        ask = {
            name: int(amount * self.part)
            for name, amount in self.hardware.allocatable.items()
            if name != "pods"
        }
        # The CPU manager gives cores of its own only to a pod that asks for an integer of cpus.
        ask["cpu"] = ask["cpu"] // 1000 * 1000 - sum(step.cpu for step in self.runtime.initializers)
        ask["memory"] -= sum(step.memory for step in self.runtime.initializers)
        stem = self.fabric.resources if self.fabric else ""
        ask |= {
            f"{self.release.resource_prefix}/{names.rail_resource(stem, rail)}": 1
            for rail in self.rails
        }
        return dict(sorted(ask.items()))

    @property
    def resources(self) -> dict[str, dict[str, str]]:
        """Requests equal to limits: the pod is Guaranteed, so the CPU manager gives it cores of its own."""
        amounts = {name: format_amount(name, amount) for name, amount in self.per_node.items()}
        return {"limits": amounts, "requests": amounts}

    @property
    def volume(self) -> str:
        """Claim that steps and ranks share; empty without steps."""
        return next((step.volume for step in self.runtime.initializers), "")

    @property
    def node_dependencies(self) -> list[dict[str, str]]:
        """What must have ended before ranks start."""
        return [{"name": step.name, "status": "Complete"} for step in self.runtime.initializers]

    @property
    def returns_after_steps(self) -> bool:
        """Whether a job that is evicted after its steps can be admitted again: not every Kueue places what is left."""
        return not (self.volume and self.fabric) or "steps-return" in self.release.features

    @property
    def has_tools(self) -> bool:
        """Whether jobs find programs of ours in /opt/trainyard."""
        return self.runtime.launcher.wrapped or bool(self.runtime.export)

    @property
    def step_annotations(self) -> dict[str, str]:
        """Annotations of the steps' pods: they need neither networks nor a place in the topology."""
        return {"openshift.io/required-scc": self.release.job_scc} if self.release.job_scc else {}

    @property
    def longest_job_name(self) -> int:
        """Characters that a TrainJob's name may have: beyond them it is admitted and never starts, without a word.

        Its pods are ``<job>-<role>-0-<index>-xxxxx``, at most 63: 44 with ``launcher``, 33 with
        ``dataset-initializer`` (seen with JobSet 0.11.0).
        """
        single = [
            f"{role}-0-0"
            for role in ("launcher", *(step.name for step in self.runtime.initializers))
        ]
        indexed = f"node-0-{self.runtime.max_nodes - 1}"
        roles = [indexed, *(single if self.runtime.launcher.mpi else single[1:])]
        return names.LABEL_BUDGET - len("--xxxxx") - max(map(len, roles))

    @property
    def account_resources(self) -> dict[str, dict[str, str]]:
        """Of the init container that writes the account; equal too, or the pod would not be Guaranteed."""
        amounts = {"cpu": "1", "memory": "128Mi"}
        return {"limits": amounts, "requests": amounts}

    @property
    def shared_memory(self) -> str:
        """Size of /dev/shm: the runtime's for a whole node, in proportion for a part of one."""
        return format_bytes(int(self.runtime.shared_memory * self.part))

    @property
    def image_pull_secrets(self) -> list[dict[str, str]]:
        """The pull secret, by the name that it has in every team's namespace."""
        return [{"name": self.runtime.pull_secret}] if self.runtime.pull_secret else []

    @property
    def node_selector(self) -> dict[str, str]:
        """Labels of the nodes, where a queue may have others too; none where any will do."""
        return dict(self.hardware.labels)

    @property
    def pod_security(self) -> dict[str, object]:
        """Security context of the pods.

        Every pod has an fsGroup then. Without OnRootMismatch kubelet walks through a whole
        checkpoint volume at each start; SCCs neither set nor check it
        (openshift/apiserver-library-go:pkg/securitycontextconstraints).
        """
        return dict(
            sorted({**self.release.pod_security, "fsGroupChangePolicy": "OnRootMismatch"}.items())
        )

    @property
    def launcher_annotations(self) -> dict[str, str]:
        """Annotations of the launcher's pod: networks, SCC, and the level of the topology that ranks should share."""
        annotations = (
            {"openshift.io/required-scc": self.release.job_scc} if self.release.job_scc else {}
        )
        if self.fabric and self.rails:
            networks = (names.network(self.fabric.name, rail, self.owner) for rail in self.rails)
            annotations["k8s.v1.cni.cncf.io/networks"] = ",".join(networks)
        if self.fabric:
            annotations["kueue.x-k8s.io/podset-preferred-topology"] = self.fabric.preferred_level
        if self._grouped:
            annotations["kueue.x-k8s.io/podset-group-name"] = "job"
        return dict(sorted(annotations.items()))

    @property
    def _grouped(self) -> bool:
        """Whether Kueue places launcher and nodes as one group; where it can't, each by itself, in order."""
        return self.fabric is not None and self.release.groups_podsets and self.runtime.launcher.mpi

    @property
    def is_placed_as_one(self) -> bool:
        """Whether Kueue gives all pods one flavor.

        Where it chooses for launcher, nodes or steps apart, a job that may have several flavors and
        finds room for a part of itself is tried again at once, for ever, and no job behind it is
        looked at (kubernetes-sigs/kueue#3710; seen with Kueue 0.16.2).
        """
        return not self.runtime.initializers and (self._grouped or not self.runtime.launcher.mpi)

    @property
    def node_annotations(self) -> dict[str, str]:
        """Annotations of the nodes' pods.

        The offset keeps ranks in order in a group: without it Kueue counts the nodes from 1, finds
        a rank below 0 and places them in any order (seen on Kueue 0.16.2 and 0.19.2).
        """
        order = {"kueue.x-k8s.io/pod-index-offset": "-1"} if self._grouped else {}
        return dict(sorted({**self.launcher_annotations, **order}.items()))

    @property
    def home(self) -> str:
        """Home of the ranks."""
        return home(self.runtime)

    @property
    def step_environment(self) -> list[dict[str, Any]]:
        """Environment of a step: the job's folder, and a home that any uid may write to."""
        return [*self._folder(), *variables({"HOME": "/tmp"})]  # noqa: S108 - of a container of its own

    def _folder(self) -> list[dict[str, Any]]:
        return [JOB_FOLDER] if self.volume else []

    @property
    def rank_environment(self) -> list[dict[str, Any]]:
        """Environment of every rank: set on all containers, and handed on by the node's sshd."""
        return [*self._folder(), *variables(self._rank_environment() | self._export())]

    def _export(self) -> dict[str, str]:
        return {"EXPORT_COMMAND": self.runtime.export_command} if self.runtime.export else {}

    @property
    def node_environment(self) -> list[dict[str, Any]]:
        """Environment of a node of an MPI job, whose sshd hands on all but the names that begin with SSH."""
        crypto = {"SSH_CRYPTO": "fips"} if self.fips else {}
        return [*self._folder(), *variables(self._rank_environment() | crypto)]

    @property
    def launcher_environment(self) -> list[dict[str, Any]]:
        """Environment of the launcher: that of the ranks, then what starts them."""
        own = (
            launcher_environment(self.runtime, self.cores_per_rank, bool(self.rails), self.fips)
            | self._export()
        )
        return [*self._folder(), *variables(self._rank_environment()), *variables(own)]

    def _rank_environment(self) -> dict[str, str]:
        return rank_environment(self.runtime, self.gpus, self.fabric if self.rails else None)
