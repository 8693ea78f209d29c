"""Views of a team's namespace and of its user ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final

from trainyard.model import names
from trainyard.model.ids import GROUPS, LEVEL, RANGE, Ids
from trainyard.model.named import by_name
from trainyard.model.network import BESIDE_MPI_JOBS, MPI_JOBS, Egress
from trainyard.model.nvlink import DOMAIN
from trainyard.model.people import kind_of, name_of
from trainyard.model.quantity import format_amount, format_bytes
from trainyard.model.space import Grant, Space
from trainyard.model.storage import CLAIMS, MOST_GROWTH, StoredSecret, claims_of
from trainyard.render.views.cluster import ClusterView
from trainyard.render.views.counts import COUNTS, MPI_COUNTS
from trainyard.render.views.network import selected

_TEAM_ROLES: Final = {
    "admin": "trainyard-team-admin",
    "user": "trainyard-team-user",
    "viewer": "trainyard-team-viewer",
}
"""ClusterRole of each role of a team."""

_MPI_ROLES: Final = {
    "admin": "trainyard-mpijob-user",
    "user": "trainyard-mpijob-user",
    "viewer": "trainyard-mpijob-viewer",
}
"""ClusterRole that each role of a team with MPIJobs has too."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A binding of a ClusterRole, in a team's namespace or in the whole cluster."""

    name: str
    role: str
    subjects: list[dict[str, str]]


def people_subjects(entries: Iterable[str]) -> list[dict[str, str]]:
    """Return groups and users as subjects of a binding."""
    return [
        {"apiGroup": "rbac.authorization.k8s.io", "kind": kind_of(each), "name": name_of(each)}
        for each in entries
    ]


@dataclass(frozen=True, slots=True)
class IdsView:
    """User ids of a namespace, as templates read them."""

    ids: Ids

    @property
    def annotations(self) -> dict[str, str]:
        """Annotations of the namespace."""
        return {LEVEL: self.ids.level, GROUPS: self.ids.range, RANGE: self.ids.range}


@dataclass(frozen=True, slots=True)
class SpaceView:
    """A namespace of a team, as templates read it."""

    space: Space

    @property
    def labels(self) -> dict[str, str]:
        """Labels of every object in the team's unit."""
        team_label = {self.space.cluster.team_label_key: self.space.team.name}
        return {"app.kubernetes.io/managed-by": "trainyard", **team_label}

    @property
    def namespace_labels(self) -> dict[str, str]:
        """Labels of the namespace: ours, and those that the release's controllers select.

        Pod Security refuses what it did before, until the team is held to the rules.
        """
        labels = {**self.labels, **self.space.cluster.release.namespace_labels}
        if not self.space.team.stage.enforces:
            labels.pop("pod-security.kubernetes.io/enforce", None)
        return labels

    @property
    def namespace_annotations(self) -> dict[str, str]:
        """Annotations of the namespace; it is deleted only after a person confirms it."""
        contact = {f"{self.space.cluster.settings.domain}/contact": self.space.team.contact}
        return {
            "argocd.argoproj.io/sync-options": "Prune=false,Delete=confirm",
            **contact,
            **self._claimable(),
            **self._display_name(),
            **(IdsView(self.space.ids).annotations if self.space.ids else {}),
        }

    def _claimable(self) -> dict[str, str]:
        classes = " ".join(self.space.claimable_classes)
        return {ClusterView(self.space.cluster).claimable_key: classes} if classes else {}

    def _display_name(self) -> dict[str, str]:
        key = self.space.cluster.release.display_name_key
        parts = filter(None, ("Team", self.space.team.name, self.space.profile.name))
        return {key: " ".join(parts)} if key else {}

    @property
    def bindings(self) -> tuple[Binding, ...]:
        """RoleBindings: each role that has a subject, debuggers, and the clean-up of finished jobs.

        None for the SCC of job pods: OpenShift binds restricted-v2 to every authenticated account
        (openshift/cluster-kube-apiserver-operator:bindata/bootkube/scc-manifests).
        """
        return tuple(self._bindings())

    def _bindings(self) -> Iterator[Binding]:
        yield from self._of_roles("", _TEAM_ROLES)
        if self.space.mpi_jobs:
            yield from self._of_roles("mpijobs-", _MPI_ROLES)
        if self.space.team.own_runtimes and (admins := self._subjects("admin")):
            yield Binding("runtimes", names.OWN_RUNTIMES_ROLE, admins)
        if debuggers := self.space.team.debuggers:
            yield Binding("debugger", names.DEBUGGER_ROLE, people_subjects(debuggers.groups))
        if cleanup := self.space.cluster.finished_jobs:
            account = _account(cleanup.name, names.SYSTEM_NAMESPACE)
            yield Binding(cleanup.name, names.FINISHED_JOBS_ROLE, [account])

    def _of_roles(self, prefix: str, roles: Mapping[str, str]) -> Iterator[Binding]:
        """Yield the binding of each role that has a subject to its ClusterRole."""
        for role, cluster_role in roles.items():
            if subjects := self._subjects(role):
                yield Binding(f"{prefix}{role}", cluster_role, subjects)

    def _subjects(self, role: str) -> list[dict[str, str]]:
        subjects = people_subjects(self.space.team.groups.get(role, ()))
        for account in self.space.team.accounts:
            if account.role == role:
                subjects.append(_account(account.name, self.space.namespace))
        return subjects

    @property
    def everybody(self) -> list[dict[str, str]]:
        """All who have a role in the team."""
        return list(chain.from_iterable(map(self._subjects, _TEAM_ROLES)))

    @property
    def monitor_labels(self) -> dict[str, str]:
        """Labels of the PodMonitor: those by which Prometheus selects it, and ours."""
        monitoring = self.space.cluster.monitoring
        return {**(monitoring.labels if monitoring else {}), **self.labels}

    @property
    def metrics_address(self) -> str:
        """Address of a job's own metrics; Prometheus puts the pod's in."""
        return f"$1:{self.space.team.metrics}"

    @property
    def accounts(self) -> tuple[str, ...]:
        """Service accounts that the tree defines, the ranks' first; the others exist already."""
        own = (account.name for account in self.space.team.accounts if not account.owner)
        return (names.JOB_ACCOUNT, *own)

    @property
    def egress(self) -> tuple[Egress, ...]:
        """Egress rules that the platform declares for every team.

        Pods of MPIJobs get those of jobs, in a policy of their own: no selector has both labels.
        The dot keeps its name apart from those of profiles.
        """
        declared = self.space.cluster.egress
        if not self.space.mpi_jobs:
            return declared
        own, copies = [], []
        for rule in declared:
            own.append(
                replace(rule, source=BESIDE_MPI_JOBS) if rule.source == "workspaces" else rule
            )
            if rule.source == "jobs":
                copies.append(replace(rule, name=f"{rule.name}.mpijobs", source=MPI_JOBS))
        return (*own, *copies)

    @property
    def job_pods(self) -> dict[str, Any]:
        """Selector of the pods of TrainJobs."""
        return selected("jobs")

    @property
    def mpi_pods(self) -> dict[str, Any]:
        """Selector of the pods of MPIJobs."""
        return selected(MPI_JOBS)

    @property
    def workspace_pods(self) -> dict[str, Any]:
        """Selector of the pods of workspaces."""
        return selected(BESIDE_MPI_JOBS if self.space.mpi_jobs else "workspaces")

    @property
    def pull_secrets(self) -> tuple[StoredSecret, ...]:
        """Image pull secrets."""
        return tuple(secret for secret in self.space.secrets if secret.kind == "pull")

    @property
    def quota(self) -> dict[str, str]:
        """Objects and bytes that the namespace may hold: counts, and claims by their class.

        A quota on GPUs, cpu or pods beside Kueue leaves half a gang running and holding its GPUs.
        """
        counts = {**COUNTS, **(MPI_COUNTS if self.space.mpi_jobs else {})}
        counts |= self._own_runtimes("count/trainingruntimes.trainer.kubeflow.org")
        sizes = {name: format_bytes(size) for name, size in self._sizes(MOST_GROWTH).items()}
        return dict(sorted((counts | sizes).items()))

    @property
    def quota_annotations(self) -> dict[str, str]:
        """What claims of the tree and of the team's admins have in sum, below the quota."""
        sizes = (f"{name}={format_bytes(size)}" for name, size in self._sizes(1).items())
        return {self.space.cluster.claimed_key: " ".join(sizes)}

    def _own_runtimes(self, key: str) -> dict[str, str]:
        """Return how many runtimes of its own the namespace may hold, where it may."""
        return {key: str(number)} if (number := self.space.team.own_runtimes) else {}

    def _further_names(self) -> dict[str, str]:
        """Return the further names of each queue that has some."""
        found = {each.node_class: self.space.further_names(each) for each in self.space.queues}
        return {f"queues.{key}": " ".join(each) for key, each in found.items() if each}

    def _sizes(self, growth: int) -> dict[str, int]:
        """Return the bytes of claims by their key in a quota: all, and those of each class.

        Args:
            growth: how many times as large the claims of the tree are.
        """
        claimed = [(each.storage, each.request.size * growth) for each in self.space.claims]
        claimed += [(each.storage, each.size) for each in self.space.allowances]
        sizes = {CLAIMS: 0, **dict.fromkeys(map(claims_of, self.space.claimable_classes), 0)}
        for storage, size in claimed:
            sizes[CLAIMS] += size
            if (key := claims_of(storage.storage_class)) in sizes:
                sizes[key] += size
        return dict(sorted(sizes.items()))

    @property
    def domains(self) -> list[str]:
        """The ComputeDomain of the namespace, if its jobs use NVLink between nodes."""
        return [DOMAIN] if any(launch.claims_nvlink for launch in self.space.launches) else []

    @property
    def limits(self) -> dict[str, str]:
        """Parameters of the admission policy, as a ConfigMap holds them: limits of TrainJobs."""
        space = self.space
        ending = [priority for priority in space.priorities if priority.deadline]
        limits = {
            **self._own_runtimes("ownRuntimes"),
            "deadlines": " ".join(f"{priority.name}={priority.deadline}" for priority in ending),
            "priorityClasses": " ".join(by_name(space.priorities)),
            "defaultQueue": space.default_class,
            "queues": " ".join(by_name(space.local_queues)),
            **self._further_names(),
            "runtimes": names.RUNTIME_SEPARATOR.join(launch.name for launch in space.launches),
        }
        for grant in space.grants:
            for name, value in _limits(grant).items():
                limits[f"{name}.{grant.launch.name}"] = value
        if space.mpi_jobs:
            limits["mpiJobsUntil"] = space.mpi_jobs.until
        return dict(sorted(limits.items()))


def _account(name: str, namespace: str) -> dict[str, str]:
    return {"kind": "ServiceAccount", "name": name, "namespace": namespace}


def _limits(grant: Grant) -> dict[str, str]:
    """Return the limits of jobs with one runtime."""
    launch, runtime = grant.launch, grant.launch.runtime
    per_node = (f"{name}={format_amount(name, n)}" for name, n in launch.per_node.items())
    return {
        **({"launcherPod": "small"} if runtime.small_launcher else {}),
        **({"claims": DOMAIN} if launch.claims_nvlink else {}),
        "gpusPerNode": str(launch.gpus),
        "maxNodes": str(grant.nodes),
        "longestName": str(launch.longest_job_name),
        "steps": " ".join(by_name(runtime.initializers)),
        "queue": launch.hardware.node_class,
        "minNodes": str(runtime.smallest_job),
        "ranksPerNode": str(launch.ranks),
        "roles": " ".join(runtime.roles),
        "threadsPerRank": str(launch.threads_per_rank),
        "perNode": " ".join(per_node),
    }


def listed(spaces: Iterable[Space]) -> str:
    """Return namespaces, each on a line of its own: Git merges new ones of two teams."""
    return "\n".join(space.namespace for space in spaces)
