"""Views of a cluster, its cohorts and its priorities."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.model import member_kinds, names
from trainyard.model.accelerator import NVIDIA
from trainyard.model.cluster import Cluster, Cohort
from trainyard.model.monitoring import (
    API_SERVER,
    CONSOLE,
    CONSOLE_NAMESPACE,
    EXTERNAL_SECRETS,
    JOB_STATES,
    KUBELET,
    METRICS,
    NAMESPACES,
)
from trainyard.model.named import by_name
from trainyard.model.nvlink import CHANNEL, DEVICE_CLASS, DOMAIN
from trainyard.model.priority import Priority
from trainyard.model.variables import REFUSED
from trainyard.render.cel import text, text_list
from trainyard.render.views.tenancy import Tenancy
from trainyard.render.views.writers import Writers

_PROJECTS = "system:serviceaccounts:openshift-apiserver"
"""Group of OpenShift's API server, which writes the namespaces of projects."""


def _without(left_out: Collection[str], values: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in values.items() if name not in left_out}


@dataclass(frozen=True, slots=True)
class CohortView:
    """A cohort, as templates read it."""

    cohort: Cohort

    @property
    def weight_quantity(self) -> str:
        """Weight as the quantity that the API server stores."""
        return str(self.cohort.weight)


@dataclass(frozen=True, slots=True)
class PriorityView:
    """A WorkloadPriorityClass, as templates read it."""

    priority: Priority

    @property
    def description(self) -> str:
        """Description of the class for its users."""
        return (
            f"{self.priority.name} jobs; a higher value goes first and may evict lower ones of its "
            "own queue"
        )


@dataclass(frozen=True, slots=True)
class ClusterView:
    """A cluster, as templates read it."""

    cluster: Cluster

    @property
    def labels(self) -> dict[str, str]:
        """Labels of every platform object."""
        part = f"{self.cluster.settings.domain}/part"
        return {"app.kubernetes.io/managed-by": "trainyard", part: "platform"}

    @property
    def monitoring_labels(self) -> dict[str, str]:
        """Labels of the objects that Prometheus reads: its own choice, and ours."""
        monitoring = self.cluster.monitoring
        return {**(monitoring.labels if monitoring else {}), **self.labels}

    @property
    def has_machine_pools(self) -> bool:
        """Return whether OpenShift sets up the nodes of each pool."""
        return "machine-config" in self.cluster.features

    @property
    def has_job_states(self) -> bool:
        """Return whether kube-state-metrics shows the states of jobs."""
        return bool(self.cluster.monitoring) and self.cluster.has_metrics({JOB_STATES})

    @property
    def unwatched(self) -> dict[str, str]:
        """What has no alerts because nobody has a source scraped, by the source."""
        watched = {
            API_SERVER: "a webhook or admission policy that fails",
            EXTERNAL_SECRETS: "a Secret that is not synced" if self.cluster.has_secrets else "",
            JOB_STATES: "a job that waits too long, or is admitted and does not run",
            KUBELET: "a volume of a team that is full",
        }
        absent = {name for name, what in watched.items() if not what}
        return _without({*absent, *by_name(self.cluster.sources)}, watched)

    @property
    def state_resources(self) -> list[str]:
        """What kube-state-metrics reads for the states of jobs, as RBAC names it."""
        kinds = ["workloads.kueue.x-k8s.io", "trainjobs.trainer.kubeflow.org"]
        if self.cluster.rail_fabrics:
            kinds.append("sriovnetworknodestates.sriovnetwork.openshift.io")
        if self.has_machine_pools:
            kinds.append("machineconfigpools.machineconfiguration.openshift.io")
        return kinds

    @property
    def sidecar_labels(self) -> dict[str, str]:
        """Labels of the dashboards that a Grafana's sidecar reads."""
        return {**self.monitoring_labels, "grafana_dashboard": "1"}

    @property
    def console_labels(self) -> dict[str, str]:
        """Labels of the dashboards that OpenShift's console reads."""
        return {**self.monitoring_labels, "console.openshift.io/dashboard": "true"}

    @property
    def device_classes(self) -> list[dict[str, object]]:
        """Names under which Kueue counts claims, with their classes; none without claims."""
        classes: dict[str, object] = {"name": CHANNEL, "deviceClassNames": [DEVICE_CLASS]}
        return [classes] if DOMAIN in self.cluster.links else []

    @property
    def pool_label_keys(self) -> list[str]:
        """Keys of the labels that select the nodes of some pool, sorted."""
        return sorted(set().union(*(pool.labels for pool in self.cluster.pools)))

    @property
    def components(self) -> dict[str, str]:
        """Versions of what this cluster needs.

        Operators of fabrics and GPUs are left out where it has none. That of MPIJobs is in the
        prerequisites.
        """
        known = NVIDIA in self.cluster.makers
        absent = {"mpiOperator"} if known else {"mpiOperator", NVIDIA.operator}
        if not self.cluster.rail_fabrics:
            absent |= {"networkOperator", "sriovNetworkOperator"}
        return _without(absent, self.cluster.versions)

    @property
    def secret_store_list(self) -> str:
        """CEL: names of the ClusterSecretStores that the profile names."""
        return text_list(self.cluster.secret_stores)

    @property
    def store_conditions(self) -> str:
        """JSON patch of a ClusterSecretStore: it serves teams and the platform."""
        teams = {"matchExpressions": [{"key": self.cluster.team_label_key, "operator": "Exists"}]}
        served = [{"namespaceSelector": teams}, {"namespaces": [self.cluster.system_namespace]}]
        return json.dumps({"spec": {"conditions": served}}, separators=(",", ":"))

    @property
    def adopted_class(self) -> str:
        """CEL: storage class of the volumes that teams adopt."""
        return text(names.ADOPTED_CLASS)

    @property
    def needs(self) -> dict[str, str]:
        """Objects that the tree uses and does not define, with their owners.

        A cluster without fabrics needs no namespaces of their operators, one without monitoring no
        metrics and no namespace of a Prometheus, one without dashboards none of the console, one
        without logs none of theirs, and one with other name servers none of the release's.
        """
        unused = {f"Namespace/{name}" for name in self._unused_namespaces()}
        return _without(unused | self._unread(), self.cluster.external)

    def _unread(self) -> set[str]:
        """Return the metrics that no alert of the cluster reads."""
        read = self.cluster.sources if self.cluster.monitoring else ()
        metrics = {name for name in self.cluster.external if name.startswith(f"{METRICS}/")}
        return metrics - {f"{METRICS}/{source.name}" for source in read}

    def _unused_namespaces(self) -> set[str]:
        cluster, unused = self.cluster, set[str]()
        if not cluster.rail_fabrics:
            unused |= {cluster.release.sriov_namespace, cluster.release.ipam_namespace}
        if cluster.viewer != CONSOLE:
            unused.add(CONSOLE_NAMESPACE)
        if cluster.monitoring is None:
            unused.update(NAMESPACES.values())
        if not cluster.stores_logs:
            unused.add("openshift-logging")
        if cluster.dns.namespace != cluster.release.dns.namespace:
            unused.add(cluster.release.dns.namespace)
        return unused

    @property
    def system_labels(self) -> dict[str, str]:
        """Labels of our own namespace."""
        labels = self.labels
        for mode in ("audit", "enforce", "warn"):
            labels[f"pod-security.kubernetes.io/{mode}"] = "restricted"
        return labels

    @property
    def team_label_text(self) -> str:
        """CEL: the key of the label that every team's namespace carries."""
        return text(self.cluster.team_label_key)

    @property
    def taint_list(self) -> str:
        """CEL: keys of the taints on the pools' nodes."""
        return text_list(self.cluster.taints)

    @property
    def device_list(self) -> str:
        """CEL: names of the resources that only the pools' nodes have."""
        return text_list(self.cluster.devices)

    @property
    def groups_on_nodes(self) -> tuple[str, ...]:
        """Groups whose operators act on what is others' for whoever writes one of their kinds."""
        return member_kinds.groups_beyond()

    @property
    def writers(self) -> Writers:
        """Who writes objects, as policies ask for it."""
        return Writers(self.cluster)

    @property
    def tenancy(self) -> Tenancy:
        """Which namespaces are those of teams."""
        return Tenancy(self.cluster)

    @property
    def is_tenant(self) -> str:
        """CEL: who asks may not write the policies' parameters, so that the policies hold them."""
        own = text(self.cluster.system_namespace)
        parameters = f"authorizer.group('').resource('configmaps').namespace({own})"
        return f"!{parameters}.check('update').allowed(){Writers(self.cluster).or_deputy}"

    @property
    def refused_variables(self) -> str:
        """CEL: names of variables that no job and no copy of a runtime may set."""
        return text_list(REFUSED)

    @property
    def changes_namespace_of_team(self) -> str:
        """CEL: a tenant changes a namespace, or has OpenShift do so as that of a project."""
        tenant = "variables.tenant && (" + Writers(self.cluster).is_member + ")"
        if not self.cluster.release.has_projects:
            return tenant
        return f"({tenant}) || {text(_PROJECTS)} in request.userInfo.groups"

    @property
    def copy_label(self) -> str:
        """CEL: key of the label that names the runtime which a TrainingRuntime is a copy of."""
        return text(f"{self.cluster.settings.domain}/copy-of")

    @property
    def claimable_classes(self) -> str:
        """CEL: the storage classes that a namespace's admins may claim of."""
        read = f"namespaceObject.metadata.?annotations[?{text(self.claimable_key)}]"
        return f"{read}.orValue('').split(' ').filter(each, each != '')"

    @property
    def claimable_key(self) -> str:
        """Annotation of a team's namespace: storage classes that its admins may claim of."""
        return f"{self.cluster.settings.domain}/claimable-storage-classes"

    @property
    def no_pod(self) -> list[dict[str, Any]]:
        """A NetworkPolicy peer that matches no pod: a label that has a value and is absent."""
        key = f"{self.cluster.settings.domain}/never"
        absent = {"key": key, "operator": "DoesNotExist"}
        never = [{"key": key, "operator": "In", "values": ["never"]}, absent]
        return [{"podSelector": {"matchExpressions": never}}]

    @property
    def shares_fairly(self) -> bool:
        """Return whether Kueue reads weights; under classical sharing a weight has no effect."""
        return self.cluster.sharing == "fair"

    @property
    def preemption_policy(self) -> str:
        """Kueue's name for how borrowed capacity is shared."""
        return "FairSharing" if self.shares_fairly else "Classical"

    @property
    def source_repositories(self) -> tuple[str]:
        """The one repository that Argo CD may take objects from."""
        return (self.cluster.settings.repository,)

    @property
    def revision(self) -> str:
        """The branch in full: a tag of the same name must not win."""
        return f"refs/heads/{self.cluster.settings.branch}"
