"""A team on one cluster: everything that its sync unit and its part of the platform are made from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network

from generator.model import names
from generator.model.cluster import Cluster, Egress, Fabric, PullSecret, Storage
from generator.model.hardware import Hardware
from generator.model.quantity import format_amount, format_bytes
from generator.model.queue import Queue
from generator.model.runtime import Launch
from generator.model.team import Account, Allocation, StorageRequest, Team


@dataclass(frozen=True, slots=True)
class Network:
    """A team's attachment to one rail: the same name in every team's namespace, another partition."""

    team: str
    fabric: Fabric
    hardware: Hardware
    rail: int
    allocation: Allocation
    prefix: str

    @property
    def name(self) -> str:
        """Name of the NetworkAttachmentDefinition."""
        return names.network(self.hardware.name, self.rail)

    @property
    def resource(self) -> str:
        """The VF resource that the attachment takes."""
        return f"{self.prefix}/{names.rail_resource(self.hardware.name, self.rail)}"

    @property
    def addresses(self) -> IPv4Network:
        """This rail's part of the team's block."""
        bits = (len(self.hardware.rails) - 1).bit_length()
        return list(self.allocation.addresses.subnets(prefixlen_diff=bits))[self.rail]

    @property
    def config(self) -> str:
        """CNI configuration, one JSON text.

        Keys of k8snetworkplumbingwg/ib-sriov-cni@v1.3.0; ``pkey`` and ``ibKubernetesEnabled`` make ib-kubernetes put the
        VF's GUID into the partition; ``network_name`` keeps equal ranges of other networks from sharing one pool.
        """
        return json.dumps(
            {
                "cniVersion": "1.0.0",
                "name": f"{self.team}-{self.name}",
                "type": "ib-sriov",
                "pkey": f"0x{self.allocation.partition:04x}",
                "link_state": "enable",
                "rdmaIsolation": True,
                "ibKubernetesEnabled": True,
                "capabilities": {"infinibandGUID": True},
                "ipam": {
                    "type": "whereabouts",
                    "range": str(self.addresses),
                    "network_name": f"{self.team}-{self.name}",
                },
            },
            separators=(",", ":"),
        )


@dataclass(frozen=True, slots=True)
class Claim:
    """A PersistentVolumeClaim of a team, and the PersistentVolume behind it where we make one."""

    cluster: str
    team: str
    namespace: str
    storage: Storage
    request: StorageRequest

    @property
    def name(self) -> str:
        """Name of the claim."""
        return self.storage.name

    @property
    def size(self) -> str:
        """Canonical quantity."""
        return format_bytes(self.request.size)

    @property
    def volume(self) -> str:
        """Name of the PersistentVolume; empty where the class makes one."""
        if self.storage.kind == "nfs":
            return names.volume(self.cluster, self.team, self.storage.name)
        return self.request.volume

    @property
    def path(self) -> str:
        """The team's own folder of the NFS export."""
        return f"{self.storage.path.rstrip('/')}/{self.team}"

    @property
    def mount_path(self) -> str:
        """Where the sample job mounts it."""
        return f"/mnt/{self.storage.name}"


@dataclass(frozen=True, slots=True)
class StoredSecret:
    """A Secret that External Secrets makes from a store; Git never sees a value.

    Args:
        kind: ``s3`` or ``pull``.
        key: where it lies in the store.
    """

    name: str
    namespace: str
    kind: str
    store: str
    key: str
    endpoint: str = ""
    bucket: str = ""

    @property
    def mount_path(self) -> str:
        """Where ranks read it as files: sshd drops a container's environment, files stay."""
        return f"/var/run/secrets/trainyard/{self.name}"


@dataclass(frozen=True, slots=True)
class Binding:
    """A RoleBinding of one role of the closed catalogue."""

    role: str
    groups: tuple[str, ...]
    accounts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tenant:
    """A team on one cluster, complete."""

    team: Team
    cluster: Cluster
    queues: tuple[Queue, ...]
    launches: tuple[Launch, ...]
    priorities: tuple[str, ...]
    networks: tuple[Network, ...]
    claims: tuple[Claim, ...]
    secrets: tuple[StoredSecret, ...]

    @property
    def name(self) -> str:
        """The team's name."""
        return self.team.name

    @property
    def namespace(self) -> str:
        """The team's namespace."""
        return names.namespace(self.team.name)

    @property
    def files(self) -> tuple[str, ...]:
        """The profile files that made it."""
        return (self.team.at.file, self.cluster.file)

    @property
    def team_label(self) -> dict[str, str]:
        """The label that marks what belongs to this team."""
        return {f"{self.cluster.settings.domain}/team": self.team.name}

    @property
    def labels(self) -> dict[str, str]:
        """Labels of every object in the team's unit."""
        return {"app.kubernetes.io/managed-by": "trainyard", **self.team_label}

    @property
    def namespace_labels(self) -> dict[str, str]:
        """Labels of the namespace: ours, then what the release's controllers look for."""
        return {**self.labels, **self.cluster.release.namespace_labels}

    @property
    def contact(self) -> dict[str, str]:
        """Annotation that tells whom to call."""
        return {f"{self.cluster.settings.domain}/contact": self.team.contact}

    @property
    def bindings(self) -> tuple[Binding, ...]:
        """RoleBindings: each role that somebody has."""
        return tuple(
            Binding(role, self.team.groups.get(role, ()), self._accounts_with(role))
            for role in ("admin", "user", "viewer")
            if self.team.groups.get(role) or self._accounts_with(role)
        )

    def _accounts_with(self, role: str) -> tuple[str, ...]:
        return tuple(account.name for account in self.team.accounts if account.role == role)

    @property
    def own_accounts(self) -> tuple[Account, ...]:
        """Service accounts that we make; the others exist already."""
        return tuple(account for account in self.team.accounts if not account.owner)

    @property
    def egress(self) -> tuple[Egress, ...]:
        """Ways out that the platform declares for every team."""
        return self.cluster.egress

    @property
    def limits(self) -> dict[str, str]:
        """Parameters of the admission policy, as a ConfigMap holds them: what this team's TrainJobs may ask for."""
        limits = {
            "priorityClasses": " ".join(self.priorities),
            "queues": " ".join(queue.node_class for queue in self.queues),
            "runtimes": " ".join(launch.name for launch in self.launches),
        }
        for launch in self.launches:
            ask = launch.hardware.whole_node_pod(launch.prefix)
            limits[f"gpusPerNode.{launch.name}"] = str(launch.hardware.gpus)
            limits[f"maxNodes.{launch.name}"] = str(min(self.team.largest_job, launch.runtime.max_nodes))
            limits[f"perNode.{launch.name}"] = " ".join(
                f"{name}={format_amount(name, amount)}" for name, amount in ask.items()
            )
        return dict(sorted(limits.items()))

    @property
    def limits_name(self) -> str:
        """Name of the ConfigMap with the parameters and of the policy binding."""
        return names.job_limits(self.team.name)


def pull_secret(tenant_namespace: str, secret: PullSecret) -> StoredSecret:
    """Return the image pull secret of a namespace."""
    return StoredSecret(secret.name, tenant_namespace, "pull", secret.secret_store, secret.path)


def bucket_secret(team: str, request: StorageRequest, storage: Storage) -> StoredSecret:
    """Return the S3 connection of a team."""
    return StoredSecret(
        name=storage.name,
        namespace=names.namespace(team),
        kind="s3",
        store=storage.secret_store,
        key=f"{storage.path}/{team}/{storage.name}",
        endpoint=storage.endpoint,
        bucket=request.bucket,
    )


def labels(domain: str, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the labels of a platform object."""
    return {"app.kubernetes.io/managed-by": "trainyard", f"{domain}/part": "platform", **(extra or {})}
