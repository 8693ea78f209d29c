"""A cluster as its profile tells it: pools of nodes, fabrics, cohorts, priorities, storage, ways out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any

from trainyard.diagnostics import Pointer
from trainyard.model import names
from trainyard.model.cel import text, text_list
from trainyard.model.cleanup import FinishedJobs
from trainyard.model.fabric import Fabric
from trainyard.model.network import Egress
from trainyard.model.pool import Pool
from trainyard.model.release import Release
from trainyard.model.storage import PullSecret, Storage

_FRAMEWORKS = {
    "AppWrapper": "workload.codeflare.dev/appwrapper",
    "BatchJob": "batch/job",
    "Deployment": "deployment",
    "JobSet": "jobset.x-k8s.io/jobset",
    "LeaderWorkerSet": "leaderworkerset.x-k8s.io/leaderworkerset",
    "MPIJob": "kubeflow.org/mpijob",
    "PaddleJob": "kubeflow.org/paddlejob",
    "Pod": "pod",
    "PyTorchJob": "kubeflow.org/pytorchjob",
    "RayCluster": "ray.io/raycluster",
    "RayJob": "ray.io/rayjob",
    "StatefulSet": "statefulset",
    "TFJob": "kubeflow.org/tfjob",
    "TrainJob": "trainer.kubeflow.org/trainjob",
    "XGBoostJob": "kubeflow.org/xgboostjob",
}
"""Names of the Kueue operator's object -> of Kueue's Configuration
(sigs.k8s.io/kueue:pkg/controller/jobs@v0.19.2)."""


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
    """A WorkloadPriorityClass.

    Args:
        deadline: seconds that a job of the class may run; 0 for any time.
    """

    name: str
    at: Pointer
    value: int
    deadline: int

    @property
    def description(self) -> str:
        """What users read beside the class."""
        return (
            f"{self.name} jobs; a higher value goes first and may evict lower ones of its own queue"
        )

    @property
    def labels(self) -> dict[str, str]:
        """What a job of the class says: its name, and the longest that it may run."""
        end = {"kueue.x-k8s.io/max-exec-time-seconds": str(self.deadline)} if self.deadline else {}
        return {"kueue.x-k8s.io/priority-class": self.name, **end}


@dataclass(frozen=True, slots=True)
class Cluster:
    """One cluster, complete.

    Args:
        priorities: lowest value first.
        networks: the cluster's own address ranges by name (pods, services, machines).
        operators, auditors: groups with the platform-wide roles.
        system_namespaces: whose pods may use any node, beside those of the release.
        frameworks: job kinds that Kueue queues.
        fips: whether the nodes run in FIPS mode.
        encrypts_pods: whether the pod network encrypts between nodes.
        finished_jobs: what deletes finished TrainJobs; None where they stay.
        sharing: ``fair`` (by weight) or ``classical`` (who comes first) for borrowed capacity.
        node_sync: who starts a sync of the nodes' objects: ``manual``, ``automatic``, or
            ``with-platform``.
        external: ``Kind/name`` -> owner of what the tree needs and does not define, the release's
            included.
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
    system_namespaces: tuple[str, ...]
    frameworks: tuple[str, ...]
    sharing: str
    node_sync: str
    fips: bool
    encrypts_pods: bool
    external: Mapping[str, str]
    finished_jobs: FinishedJobs | None

    def lineage(self, cohort: str) -> tuple[str, ...]:
        """Return a cohort and what it descends from, the root last; a cycle is gone around once."""
        parents = {each.name: each.parent for each in self.cohorts}
        line = [cohort]
        while (parent := parents.get(line[-1], "")) and parent not in line:
            line.append(parent)
        return tuple(line)

    @property
    def node_unit(self) -> str:
        """Sync unit of the objects that set up nodes."""
        return "platform" if self.node_sync == "with-platform" else "nodes"

    @property
    def has_node_unit(self) -> bool:
        """Whether there is a sync unit of the nodes alone."""
        objects = "machine-config" in self.release.features or any(
            pool.fabric for pool in self.pools
        )
        return objects and self.node_unit == "nodes"

    @property
    def links(self) -> frozenset[str]:
        """The name of the link of each fabric, and ``fabric`` when there is one."""
        return frozenset(
            {fabric.link.name for fabric in self.fabrics} | ({"fabric"} if self.fabrics else set())
        )

    @property
    def has_gpus(self) -> bool:
        """Whether some pool has GPUs."""
        return any(pool.hardware.gpu for pool in self.pools)

    @property
    def secret_stores(self) -> list[str]:
        """ClusterSecretStores that the profile names, sorted."""
        stores = {each.secret_store for each in self.pull_secrets} | {
            each.secret_store for each in self.storage
        }
        return sorted(stores - {""})

    @property
    def components(self) -> dict[str, str]:
        """Versions of what this cluster needs: operators of fabrics and GPUs only where it has some."""
        absent = set() if self.fabrics else {"networkOperator", "sriovNetworkOperator"}
        absent |= set() if self.has_gpus else {"gpuOperator"}
        return {name: version for name, version in self.versions.items() if name not in absent}

    @property
    def needs(self) -> dict[str, str]:
        """What the tree uses and does not define, and its owner; a fabric's operators only where it has one."""
        operators = (
            () if self.fabrics else (self.release.sriov_namespace, self.release.ipam_namespace)
        )
        absent = {f"Namespace/{name}" for name in operators}
        return {name: owner for name, owner in self.external.items() if name not in absent}

    @property
    def files(self) -> tuple[str, ...]:
        """The profile file."""
        return (self.at.file,)

    @property
    def system_namespace(self) -> str:
        """Where the admission policies' parameters live, and the clean-up of finished jobs."""
        return names.SYSTEM_NAMESPACE

    @property
    def labels(self) -> dict[str, str]:
        """Labels of every platform object."""
        return {
            "app.kubernetes.io/managed-by": "trainyard",
            f"{self.settings.domain}/part": "platform",
        }

    @property
    def system_labels(self) -> dict[str, str]:
        """Labels of our own namespace."""
        level = {
            f"pod-security.kubernetes.io/{mode}": "restricted"
            for mode in ("audit", "enforce", "warn")
        }
        return {**self.labels, **level}

    @property
    def team_label_key(self) -> str:
        """Label that every team's namespace carries."""
        return f"{self.settings.domain}/team"

    @property
    def team_label_text(self) -> str:
        """CEL: the key of that label."""
        return text(self.team_label_key)

    @property
    def taints(self) -> list[str]:
        """Keys of the taints on the pools' nodes, sorted."""
        return sorted({pool.hardware.taint for pool in self.pools if pool.hardware.taint})

    @property
    def taint_list(self) -> str:
        """CEL: keys of the taints on the pools' nodes."""
        return text_list(self.taints)

    @property
    def devices(self) -> list[str]:
        """Resources that only these nodes give, GPUs and virtual functions, sorted."""
        return sorted({name for pool in self.pools for name in pool.allocatable if "/" in name})

    @property
    def device_list(self) -> str:
        """CEL: the names of these resources."""
        return text_list(self.devices)

    @property
    def daemon_namespaces(self) -> list[str]:
        """Namespaces whose pods may use any node; one that ends with ``*`` is a prefix."""
        drivers = self.release.driver_namespaces if self.has_gpus or self.fabrics else ()
        return sorted({*self.release.system_namespaces, *drivers, *self.system_namespaces})

    @property
    def outside_system_namespaces(self) -> str:
        """CEL: the request is for a namespace where no daemon of the platform runs."""
        daemons = self.daemon_namespaces
        prefixes = [name.removesuffix("*") for name in daemons if name.endswith("*")]
        named = [name for name in daemons if not name.endswith("*")]
        tests = [f"request.namespace in {text_list(named)}"]
        tests += [f"request.namespace.startsWith({text(prefix)})" for prefix in prefixes]
        return f"!({' || '.join(tests)})"

    @property
    def reserves_namespace(self) -> str:
        """CEL: the namespace has a name that only the delivery gives."""
        name = "object.metadata.name"
        return (
            f"{name}.startsWith({text(names.TEAM_PREFIX)}) || {name} == "
            f"{text(self.system_namespace)}"
        )

    @property
    def is_tenant(self) -> str:
        """CEL: who asks may not write the policies' parameters, so that the policies hold them."""
        place = (
            f"authorizer.group('').resource('configmaps').namespace({text(self.system_namespace)})"
        )
        return f"!{place}.check('update').allowed()"

    @property
    def claimable_classes(self) -> str:
        """CEL: the storage classes that a namespace's admins may claim of."""
        read = f"namespaceObject.metadata.?annotations[?{text(self.claimable_key)}]"
        return f"{read}.orValue('').split(' ').filter(each, each != '')"

    @property
    def claimable_key(self) -> str:
        """Annotation of a team's namespace: storage classes that its admins may claim of."""
        return f"{self.settings.domain}/claimable-storage-classes"

    @property
    def nobody(self) -> list[dict[str, Any]]:
        """A NetworkPolicy peer that matches no pod: a label that has a value and is absent."""
        key = f"{self.settings.domain}/never"
        never = [
            {"key": key, "operator": "In", "values": ["never"]},
            {"key": key, "operator": "DoesNotExist"},
        ]
        return [{"podSelector": {"matchExpressions": never}}]

    @property
    def dns_ports(self) -> list[dict[str, Any]]:
        """The name servers' ports, both protocols."""
        return [
            {"port": port, "protocol": each}
            for port in self.release.dns.ports
            for each in ("TCP", "UDP")
        ]

    @property
    def shares_fairly(self) -> bool:
        """Whether Kueue reads weights; under classical sharing a weight has no effect."""
        return self.sharing == "fair"

    @property
    def preemption_policy(self) -> str:
        """Kueue's name for how borrowed capacity is shared."""
        return "FairSharing" if self.shares_fairly else "Classical"

    @property
    def framework_names(self) -> list[str]:
        """The same job kinds, as Kueue's Configuration calls them."""
        return sorted(_FRAMEWORKS[each] for each in self.frameworks)

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
    return [
        {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": group}
        for group in groups
    ]
