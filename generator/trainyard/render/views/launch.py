"""View of a launch: a runtime on some nodes."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from trainyard.model import names
from trainyard.model.fabric import DeviceFabric, RailFabric
from trainyard.model.launch import Launch
from trainyard.model.nvlink import DOMAIN
from trainyard.model.quantity import format_amount, format_bytes, format_cpu
from trainyard.render.environment import (
    JOB_FOLDER,
    NVLINK,
    POD_INTERFACE,
    home,
    launcher_environment,
    rank_environment,
    variables,
)
from trainyard.render.views.release import ReleaseView
from trainyard.render.views.runtime import guaranteed


@dataclass(frozen=True, slots=True)
class LaunchView:
    """A runtime on some nodes, as templates read it."""

    launch: Launch

    @property
    def account(self) -> str:
        """Service account of the ranks."""
        return names.JOB_ACCOUNT

    @property
    def labels(self) -> dict[str, str]:
        """Labels: SDKs list runtimes by framework; a deprecated one warns at each submission."""
        runtime = self.launch.runtime
        return {
            "app.kubernetes.io/managed-by": "trainyard",
            f"{self.launch.domain}/runtime": runtime.name,
            "trainer.kubeflow.org/framework": runtime.framework,
            "trainer.kubeflow.org/support": "deprecated" if runtime.end else "supported",
        }

    @property
    def annotations(self) -> dict[str, str]:
        """Annotations that describe the image to users."""
        runtime, domain = self.launch.runtime, self.launch.domain
        display_name = self.launch.release.display_name_key or f"{domain}/display-name"
        annotations = {
            f"{domain}/libraries": " ".join(map("=".join, runtime.libraries.items())),
            display_name: runtime.display_name,
        }
        if runtime.description:
            annotations["kubernetes.io/description"] = runtime.description
        if runtime.docs:
            annotations[f"{domain}/docs"] = runtime.docs
        if runtime.end:
            annotations[f"{domain}/deprecated-until"] = runtime.end
        return dict(sorted(annotations.items()))

    @property
    def resources(self) -> dict[str, Any]:
        """Requests of a pod of ranks, equal to its limits, and its claims."""
        per_node = self.launch.per_node
        amounts = guaranteed({name: format_amount(name, per_node[name]) for name in per_node})
        return {"claims": [{"name": DOMAIN}], **amounts} if self.launch.claims_nvlink else amounts

    @property
    def claims(self) -> list[dict[str, str]]:
        """Claims of a pod of ranks: NVIDIA's driver writes their template into each namespace."""
        claim = {"name": DOMAIN, "resourceClaimTemplateName": DOMAIN}
        return [claim] if self.launch.claims_nvlink else []

    @property
    def launcher_claims(self) -> list[dict[str, str]]:
        """Claims of the launcher's pod, if it has ranks."""
        return self.claims if self.launcher_is_node else []

    @property
    def launcher_resources(self) -> dict[str, Any]:
        """Requests of the launcher's pod, equal to its limits."""
        if self.launcher_is_node:
            return self.resources
        own = self.launch.hardware.launcher
        return guaranteed({"cpu": format_cpu(own.cpu), "memory": format_bytes(own.memory)})

    @property
    def launcher_is_node(self) -> bool:
        """Return whether the launcher's pod has ranks."""
        return not self.launch.runtime.small_launcher

    @property
    def launcher_affinity(self) -> dict[str, Any]:
        """Place of a small launcher: beside a node of its job, where Kueue does not choose it.

        Kueue takes the node with the least room that a pod fits, which is one with ranks
        (kubernetes-sigs/kueue:pkg/cache/scheduler/tas_flavor_snapshot.go@v0.19.2).
        """
        if self.launcher_is_node or self.launch.topology:
            return {}
        beside = {
            "labelSelector": {"matchLabels": {"jobset.sigs.k8s.io/replicatedjob-name": "node"}},
            "matchLabelKeys": ["jobset.sigs.k8s.io/jobset-name"],
            "topologyKey": "kubernetes.io/hostname",
        }
        return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [beside]}}

    @property
    def label_of_copies(self) -> dict[str, str]:
        """Label by which the policy finds copies of it."""
        return {f"{self.launch.domain}/copy-of": self.launch.name}

    @property
    def account_resources(self) -> dict[str, dict[str, str]]:
        """Requests of the init container that writes the account, equal to its limits."""
        return guaranteed({"cpu": "1", "memory": "128Mi"})

    @property
    def node_dependencies(self) -> list[dict[str, str]]:
        """Steps that must be complete before ranks start."""
        steps = self.launch.runtime.initializers
        return [{"name": step.name, "status": "Complete"} for step in steps]

    @property
    def has_nodes(self) -> bool:
        """Return whether a job has nodes beside its launcher."""
        return "node" in self.launch.runtime.roles

    @property
    def launcher_dependencies(self) -> list[dict[str, str]]:
        """Pods that must be there before the launcher starts."""
        nodes = [{"name": "node", "status": "Ready"}]
        return nodes if self.has_nodes else self.node_dependencies

    @property
    def has_tools(self) -> bool:
        """Return whether jobs find programs of ours in /opt/trainyard."""
        return self.launch.runtime.launcher.wrapped or bool(self.launch.runtime.export)

    @property
    def shared_memory(self) -> str:
        """Size of /dev/shm: the runtime's for a whole node, in proportion for a part of one."""
        return format_bytes(int(self.launch.runtime.shared_memory * self.launch.part))

    @property
    def launcher_shared_memory(self) -> str:
        """Size of the launcher's /dev/shm, which is part of its memory."""
        return self.shared_memory if self.launcher_is_node else "64Mi"

    @property
    def image_pull_secrets(self) -> list[dict[str, str]]:
        """The pull secret, by the name that it has in every team's namespace."""
        secret = self.launch.runtime.pull_secret
        return [{"name": secret}] if secret else []

    @property
    def pod_security(self) -> dict[str, object]:
        """Security context of the pods.

        Every pod has an fsGroup then. Without OnRootMismatch kubelet walks through a whole
        checkpoint volume at each start; SCCs neither set nor check it
        (openshift/apiserver-library-go:pkg/securitycontextconstraints).
        """
        context = ReleaseView(self.launch.release).pod_security
        return dict(sorted({**context, "fsGroupChangePolicy": "OnRootMismatch"}.items()))

    @property
    def step_annotations(self) -> dict[str, str]:
        """Annotations of the steps' pods, which need no networks and no topology."""
        return ReleaseView(self.launch.release).scc

    @property
    def launcher_annotations(self) -> dict[str, str]:
        """Annotations of the launcher's pod: networks if it has ranks, SCC, and the topology."""
        networks = self._networks | self._interfaces if self.launcher_is_node else {}
        return dict(sorted({**self._placement, **networks}.items()))

    @property
    def node_annotations(self) -> dict[str, str]:
        """Annotations of the nodes' pods.

        The offset keeps ranks in order in a group: without it Kueue counts the nodes from 1, finds
        a rank below 0 and places them in any order (seen on Kueue 0.16.2 and 0.19.2).
        """
        order = {"kueue.x-k8s.io/pod-index-offset": "-1"} if self.launch.is_grouped else {}
        networks = self._networks | self._interfaces
        return dict(sorted({**self._placement, **networks, **order}.items()))

    @property
    def _networks(self) -> dict[str, str]:
        networks = ",".join(self._attachments())
        return {"k8s.v1.cni.cncf.io/networks": networks} if networks else {}

    def _attachments(self) -> Iterator[str]:
        """Yield the network of each port: of each rail its own, of each device that of them all."""
        launch, fabric = self.launch, self.launch.rdma
        if isinstance(fabric, DeviceFabric) and fabric.network:
            yield from repeat(fabric.network, launch.ports)
        if isinstance(fabric, RailFabric):
            for rail in launch.rails:
                yield names.network(fabric.name, rail, launch.owner)

    @property
    def _interfaces(self) -> dict[str, str]:
        """Annotations that ask for an interface in each network, beside that of every pod."""
        fabric = self.launch.rdma
        if not isinstance(fabric, DeviceFabric) or fabric.provider.annotations is None:
            return {}
        keys = fabric.provider.annotations
        named = [(POD_INTERFACE, "default")]
        named += [(f"eth{i}", each) for i, each in enumerate(fabric.networks, keys.first)]
        asked = [{"interfaceName": name, "network": network} for name, network in named]
        listed = json.dumps(asked, separators=(",", ":"))
        return {keys.default: POD_INTERFACE, keys.interfaces: listed}

    @property
    def _placement(self) -> dict[str, str]:
        """SCC, the topology level to share, and the group of pods that are placed together."""
        launch, topology = self.launch, self.launch.topology
        annotations = ReleaseView(launch.release).scc
        if topology:
            # Without NVLink between all of its nodes a job would fall back to the fabric.
            sharing = "required" if launch.claims_nvlink else "preferred"
            annotations[f"kueue.x-k8s.io/podset-{sharing}-topology"] = topology.preferred_level
        if launch.is_grouped:
            annotations["kueue.x-k8s.io/podset-group-name"] = "job"
        return annotations

    @property
    def home(self) -> str:
        """Home of the ranks."""
        return home(self.launch.runtime)

    @property
    def step_environment(self) -> list[dict[str, Any]]:
        """Environment of a step: the job's folder, and a home that any uid may write to."""
        return [*self._folder(), *variables({"HOME": "/tmp"})]  # noqa: S108 - in its own container

    @property
    def rank_environment(self) -> list[dict[str, Any]]:
        """Environment of every rank: of all containers, and passed on by the node's sshd."""
        return [*self._folder(), *variables(self._of_ranks() | self._export())]

    @property
    def node_environment(self) -> list[dict[str, Any]]:
        """Environment of a node of an MPI job.

        Its sshd passes on every variable whose name does not begin with SSH.
        """
        crypto = {"SSH_CRYPTO": "fips"} if self.launch.fips else {}
        return [*self._folder(), *variables(self._of_ranks() | crypto)]

    @property
    def launcher_environment(self) -> list[dict[str, Any]]:
        """Environment of the launcher: that of the ranks, then what starts them."""
        launch = self.launch
        own = launcher_environment(launch.runtime, launch.cores_per_rank, launch.rdma, launch.fips)
        own |= self._export()
        return [*self._folder(), *variables(self._of_ranks()), *variables(own)]

    def _folder(self) -> list[dict[str, Any]]:
        return [JOB_FOLDER] if self.launch.volume else []

    def _of_ranks(self) -> dict[str, str]:
        launch = self.launch
        maker, cores = launch.hardware.maker, launch.cores_per_rank
        ranks = rank_environment(launch.runtime, maker, cores, launch.rdma)
        return ranks | (NVLINK if launch.claims_nvlink else {})

    def _export(self) -> dict[str, str]:
        """Return the runtime's export as a variable that holds one line for a shell."""
        command = self.launch.runtime.export
        return {"EXPORT_COMMAND": shlex.join(command)} if command else {}
