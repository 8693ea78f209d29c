"""A cluster as its profile tells it: pools of nodes, fabrics, cohorts, priorities, storage, ways out."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any

from generator.diagnostics import Pointer
from generator.model import names
from generator.model.hardware import Hardware, Nic
from generator.model.quantity import format_amount, format_bytes, format_cpu
from generator.model.release import Release


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for every cluster and team (``trainyard.yaml``).

    Args:
        path: folder of the generated tree inside the repository.
    """

    at: Pointer
    domain: str
    repository: str
    branch: str
    path: str


@dataclass(frozen=True, slots=True)
class Fabric:
    """A network between the nodes' rails.

    Args:
        first_partition, last_partition: InfiniBand pkeys that teams may be given, inclusive.
        addresses: range that teams' blocks come from.
        block: prefix length of one team's block.
        levels: node labels from the top of the topology down; the host itself is added.
        leaf_nodes: nodes below one switch of the lowest level.
    """

    name: str
    at: Pointer
    link: str
    first_partition: int
    last_partition: int
    addresses: IPv4Network
    block: int
    levels: tuple[str, ...]
    leaf_nodes: int

    @property
    def topology_levels(self) -> tuple[dict[str, str], ...]:
        """Levels of the Kueue Topology; the host name may only stand last."""
        return tuple({"nodeLabel": label} for label in (*self.levels, "kubernetes.io/hostname"))


@dataclass(frozen=True, slots=True)
class Pool:
    """N nodes of one hardware profile in one cluster; ``reserve`` of them are promised to nobody.

    Args:
        prefix: of the release's SR-IOV resources.
    """

    name: str
    at: Pointer
    hardware: Hardware
    fabric: Fabric | None
    nodes: int
    reserve: int
    prefix: str

    @property
    def promised(self) -> int:
        """Nodes that teams may be given."""
        return self.nodes - self.reserve

    @property
    def topology(self) -> str:
        """Level asked for as preferred: ranks that talk stay below one switch of the lowest level when they can."""
        if self.fabric is None:
            return ""
        return self.fabric.levels[-1] if self.fabric.levels else "kubernetes.io/hostname"

    @property
    def rails(self) -> tuple[Rail, ...]:
        """The compute ports of these nodes; none without a fabric."""
        nics = self.hardware.rails if self.fabric else ()
        return tuple(Rail(self, index, nic) for index, nic in enumerate(nics))

    @property
    def machine_labels(self) -> dict[str, str]:
        """Labels of the MachineConfigPool and of the MachineConfigs that it collects."""
        return {"app.kubernetes.io/managed-by": "trainyard", **self.machine_selector}

    @property
    def machine_selector(self) -> dict[str, str]:
        """What finds this pool's MachineConfigPool."""
        return {"machineconfiguration.openshift.io/role": self.name}

    @property
    def machine_roles(self) -> tuple[str, str]:
        """Whose MachineConfigs these nodes take: every worker's and their own."""
        return ("worker", self.name)

    @property
    def node_role(self) -> dict[str, str]:
        """Label that the owner of the nodes puts on them."""
        return {f"node-role.kubernetes.io/{self.name}": ""}

    @property
    def memlock_name(self) -> str:
        """Name of the MachineConfig; the number orders it after the platform's own."""
        return f"99-{self.name}-memlock"

    @property
    def memlock_source(self) -> str:
        """Content of the CRI-O drop-in as Ignition wants it."""
        content = '[crio.runtime]\ndefault_ulimits = ["memlock=-1:-1"]\n'
        return f"data:text/plain;charset=utf-8;base64,{b64encode(content.encode()).decode()}"

    @property
    def worth_quantities(self) -> dict[str, str]:
        """What one of these nodes is promised to give, as quantities."""
        worth = self.hardware.worth(self.prefix)
        return {name: format_amount(name, amount) for name, amount in worth.items()}

    @property
    def system_reserved(self) -> dict[str, str]:
        """What kubelet sets aside, so that a node's allocatable is what quota was computed from."""
        share = self.hardware.kubelet
        return {
            "cpu": format_cpu(share.cpu),
            "ephemeral-storage": format_bytes(share.ephemeral_storage),
            "memory": format_bytes(share.memory),
        }


@dataclass(frozen=True, slots=True)
class Rail:
    """One compute port of every node of a pool."""

    pool: Pool
    index: int
    nic: Nic

    @property
    def policy_name(self) -> str:
        """Name of the SriovNetworkNodePolicy."""
        return names.node_policy(self.pool.name, self.index)

    @property
    def resource_name(self) -> str:
        """Name of the VF resource, without prefix."""
        return names.rail_resource(self.pool.hardware.name, self.index)

    @property
    def root_devices(self) -> tuple[str]:
        """PCI address, as the policy's selector wants it."""
        return (self.nic.pci,)


@dataclass(frozen=True, slots=True)
class Cohort:
    """Teams that lend to each other; a child borrows from its parent's side too."""

    name: str
    at: Pointer
    parent: str
    weight: int

    @property
    def weight_quantity(self) -> str:
        """Weight as the quantity that the API server stores."""
        return str(self.weight)


@dataclass(frozen=True, slots=True)
class Priority:
    """A WorkloadPriorityClass."""

    name: str
    at: Pointer
    value: int

    @property
    def description(self) -> str:
        """What users read beside the class."""
        return f"{self.name} jobs; a higher value goes first and may evict lower ones of its own queue"


@dataclass(frozen=True, slots=True)
class Storage:
    """A kind of storage that teams may ask for.

    Args:
        kind: ``nfs``, ``class``, ``s3`` or ``adopted`` (a claim that exists already).
        server, path: of an NFS export; ``path`` is also where an S3 secret lies in its store.
        storage_class: of ``class`` and ``adopted``.
        endpoint, secret_store: of ``s3``.
    """

    name: str
    at: Pointer
    kind: str
    server: str = ""
    path: str = ""
    storage_class: str = ""
    endpoint: str = ""
    secret_store: str = ""


@dataclass(frozen=True, slots=True)
class PullSecret:
    """An image pull secret, by reference into a secret store."""

    name: str
    at: Pointer
    secret_store: str
    path: str


@dataclass(frozen=True, slots=True)
class Egress:
    """A way out of the teams' namespaces that the platform declares.

    Args:
        cidrs, namespaces: where to.
        ports: TCP ports at the receiving pod or host.
        source: ``jobs``, ``workspaces`` (workbenches and pipelines) or ``all``.
    """

    name: str
    at: Pointer
    cidrs: tuple[str, ...]
    namespaces: tuple[str, ...]
    ports: tuple[int, ...]
    source: str

    @property
    def policy_name(self) -> str:
        """Name of the NetworkPolicy."""
        return f"egress-{self.name}"

    @property
    def pods(self) -> dict[str, Any]:
        """Whose way out it is: pods of jobs carry JobSet's label, those of workspaces don't."""
        if self.source == "all":
            return {}
        operator = "Exists" if self.source == "jobs" else "DoesNotExist"
        return {"matchExpressions": [{"key": "jobset.sigs.k8s.io/jobset-name", "operator": operator}]}

    @property
    def peers(self) -> list[dict[str, Any]]:
        """Where to, as NetworkPolicy peers."""
        labels = ({"kubernetes.io/metadata.name": namespace} for namespace in self.namespaces)
        ranges: list[dict[str, Any]] = [{"ipBlock": {"cidr": cidr}} for cidr in self.cidrs]
        return ranges + [{"namespaceSelector": {"matchLabels": label}} for label in labels]

    @property
    def port_list(self) -> list[dict[str, Any]]:
        """TCP ports, as NetworkPolicy ports."""
        return [{"port": port, "protocol": "TCP"} for port in self.ports]


@dataclass(frozen=True, slots=True)
class Cluster:
    """One cluster, complete.

    Args:
        priorities: lowest value first.
        networks: the cluster's own address ranges by name (pods, services, machines).
        operators, auditors: groups with the platform-wide roles.
        frameworks: job kinds that Kueue queues.
        sharing: ``fair`` (by weight) or ``classical`` (who comes first) for borrowed capacity.
        external: ``Kind/name`` -> owner of what the tree needs and does not define, the release's included.
    """

    name: str
    at: Pointer
    settings: Settings
    release: Release
    server: str
    argocd_namespace: str
    versions: Mapping[str, str]
    pools: tuple[Pool, ...]
    fabrics: tuple[Fabric, ...]
    cohorts: tuple[Cohort, ...]
    priorities: tuple[Priority, ...]
    storage: tuple[Storage, ...]
    pull_secrets: tuple[PullSecret, ...]
    egress: tuple[Egress, ...]
    networks: Mapping[str, IPv4Network]
    operators: tuple[str, ...]
    auditors: tuple[str, ...]
    frameworks: tuple[str, ...]
    sharing: str
    external: Mapping[str, str]

    @property
    def files(self) -> tuple[str, ...]:
        """The profile file."""
        return (self.at.file,)

    @property
    def system_namespace(self) -> str:
        """Where the admission policies' parameters live."""
        return names.SYSTEM_NAMESPACE

    @property
    def labels(self) -> dict[str, str]:
        """Labels of every platform object."""
        return {"app.kubernetes.io/managed-by": "trainyard", f"{self.settings.domain}/part": "platform"}

    @property
    def system_labels(self) -> dict[str, str]:
        """Labels of our own namespace: nothing runs there."""
        level = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("audit", "enforce", "warn")}
        return {**self.labels, **level}

    @property
    def team_label_key(self) -> str:
        """Label that every team's namespace carries."""
        return f"{self.settings.domain}/team"

    @property
    def nobody(self) -> list[dict[str, Any]]:
        """A NetworkPolicy peer that matches no pod: a label that has a value and is absent."""
        key = f"{self.settings.domain}/never"
        never = [{"key": key, "operator": "In", "values": ["never"]}, {"key": key, "operator": "DoesNotExist"}]
        return [{"podSelector": {"matchExpressions": never}}]

    @property
    def dns_ports(self) -> list[dict[str, Any]]:
        """The name servers' ports, both protocols."""
        return [{"port": port, "protocol": each} for port in self.release.dns.ports for each in ("TCP", "UDP")]

    @property
    def preemption_policy(self) -> str:
        """Kueue's name for how borrowed capacity is shared."""
        return "FairSharing" if self.sharing == "fair" else "Classical"

    @property
    def operator_subjects(self) -> list[dict[str, str]]:
        """Groups that run the platform."""
        return group_subjects(self.operators)

    @property
    def auditor_subjects(self) -> list[dict[str, str]]:
        """Groups that read across teams."""
        return group_subjects(self.auditors)

    @property
    def source_repositories(self) -> tuple[str]:
        """The one repository that Argo CD may take objects from."""
        return (self.settings.repository,)

    @property
    def revision(self) -> str:
        """The branch in full: a tag of the same name must not win."""
        return f"refs/heads/{self.settings.branch}"


def group_subjects(groups: tuple[str, ...]) -> list[dict[str, str]]:
    """Return groups as subjects of a binding."""
    return [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": group} for group in groups]
