"""Views of a team's namespace, of its user ids and of its sample jobs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from trainyard.model import names
from trainyard.model.acceptance import settings
from trainyard.model.ids import GROUPS, LEVEL, RANGE, Ids
from trainyard.model.network import Egress
from trainyard.model.quantity import format_amount, format_bytes
from trainyard.model.runtime import INITIALIZERS
from trainyard.model.space import Grant, Sample, Space
from trainyard.model.storage import StoredSecret
from trainyard.render.folder import script
from trainyard.render.views.cluster import ClusterView
from trainyard.render.views.launch import RuntimeView

_ROLES = ("admin", "user", "viewer")
MOST_JOBS: Final = 100
"""TrainJobs that a namespace may hold, finished ones included."""

_COUNTS: Final = {
    "count/configmaps": "300",
    "count/trainjobs.trainer.kubeflow.org": str(MOST_JOBS),
    "persistentvolumeclaims": "50",
    "services.loadbalancers": "0",
    "services.nodeports": "0",
}
"""Trainer keeps up to two ConfigMaps beside each job."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A binding of a ClusterRole, in a team's namespace or in the whole cluster."""

    name: str
    role: str
    subjects: list[dict[str, str]]


def group_subjects(groups: tuple[str, ...]) -> list[dict[str, str]]:
    """Return groups as subjects of a binding."""
    return [
        {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": group}
        for group in groups
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
        """Labels of the namespace: ours, and those that the release's controllers select."""
        return {**self.labels, **self.space.cluster.release.namespace_labels}

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
        for role in _ROLES:
            if subjects := self._subjects(role):
                yield Binding(role, f"trainyard-team-{role}", subjects)
        if self.space.team.own_runtimes and (admins := self._subjects("admin")):
            yield Binding("runtimes", names.OWN_RUNTIMES_ROLE, admins)
        if debuggers := self.space.team.debuggers:
            yield Binding("debugger", names.DEBUGGER_ROLE, group_subjects(debuggers.groups))
        if cleanup := self.space.cluster.finished_jobs:
            account = _account(cleanup.name, names.SYSTEM_NAMESPACE)
            yield Binding(cleanup.name, names.FINISHED_JOBS_ROLE, [account])

    def _subjects(self, role: str) -> list[dict[str, str]]:
        team = self.space.team
        accounts = [account.name for account in team.accounts if account.role == role]
        return [
            *group_subjects(team.groups.get(role, ())),
            *(_account(name, self.space.namespace) for name in accounts),
        ]

    @property
    def everybody(self) -> list[dict[str, str]]:
        """All who have a role in the team."""
        return [subject for role in _ROLES for subject in self._subjects(role)]

    @property
    def accounts(self) -> tuple[str, ...]:
        """Service accounts that the tree defines, the ranks' first; the others exist already."""
        own = (account.name for account in self.space.team.accounts if not account.owner)
        return (names.JOB_ACCOUNT, *own)

    @property
    def egress(self) -> tuple[Egress, ...]:
        """Egress rules that the platform declares for every team."""
        return self.space.cluster.egress

    @property
    def pull_secrets(self) -> tuple[StoredSecret, ...]:
        """Image pull secrets."""
        return tuple(secret for secret in self.space.secrets if secret.kind == "pull")

    @property
    def quota(self) -> dict[str, str]:
        """Objects and bytes that the namespace may hold: counts, and claims by their class.

        A quota on GPUs, cpu or pods beside Kueue leaves half a gang running and holding its GPUs.
        """
        sizes: dict[str, int] = dict.fromkeys(self.space.claimable_classes, 0)
        total = 0
        for name, size in self._claimed():
            total += size
            if name in sizes:
                sizes[name] += size
        quota = {**_COUNTS, "requests.storage": format_bytes(total)}
        quota |= self._own_runtimes("count/trainingruntimes.trainer.kubeflow.org")
        for name, size in sizes.items():
            quota[f"{name}.storageclass.storage.k8s.io/requests.storage"] = format_bytes(size)
        return dict(sorted(quota.items()))

    def _own_runtimes(self, key: str) -> dict[str, str]:
        """Return how many runtimes of its own the namespace may hold, where it may."""
        number = self.space.team.own_runtimes
        return {key: str(number)} if number else {}

    def _claimed(self) -> Iterator[tuple[str, int]]:
        """Yield the class and bytes of each claim, and of what its admins may claim."""
        for claim in self.space.claims:
            yield claim.storage.storage_class, claim.request.size
        for allowance in self.space.allowances:
            yield allowance.storage.storage_class, allowance.size

    @property
    def limits(self) -> dict[str, str]:
        """Parameters of the admission policy, as a ConfigMap holds them: limits of TrainJobs."""
        space = self.space
        deadlines = (f"{each.name}={each.deadline}" for each in space.priorities if each.deadline)
        limits = {
            **self._own_runtimes("ownRuntimes"),
            "deadlines": " ".join(deadlines),
            "priorityClasses": " ".join(each.name for each in space.priorities),
            "defaultQueue": space.default_class,
            "queues": " ".join(local.name for local in space.local_queues),
            "runtimes": " ".join(launch.name for launch in space.launches),
        }
        for grant in space.grants:
            for name, value in _limits(grant).items():
                limits[f"{name}.{grant.launch.name}"] = value
        return dict(sorted(limits.items()))


def _account(name: str, namespace: str) -> dict[str, str]:
    return {"kind": "ServiceAccount", "name": name, "namespace": namespace}


def _limits(grant: Grant) -> dict[str, str]:
    """Return the limits of jobs with one runtime."""
    launch, runtime = grant.launch, grant.launch.runtime
    per_node = (f"{name}={format_amount(name, n)}" for name, n in launch.per_node.items())
    return {
        "gpusPerNode": str(launch.gpus),
        "maxNodes": str(grant.nodes),
        "longestName": str(launch.longest_job_name),
        "steps": " ".join(step.name for step in runtime.initializers),
        "queue": launch.hardware.node_class,
        "minNodes": str(runtime.smallest_job),
        "ranksPerNode": str(launch.ranks),
        "roles": " ".join(runtime.roles),
        "threadsPerRank": str(launch.threads_per_rank),
        "perNode": " ".join(per_node),
    }


@dataclass(frozen=True, slots=True)
class SampleView:
    """A TrainJob to copy, as templates read it."""

    sample: Sample

    @property
    def labels(self) -> dict[str, str]:
        """The queue where it must be named, and the class, by default the lowest."""
        sample, labels = self.sample, {}
        if sample.local_queue != names.DEFAULT_QUEUE:
            labels["kueue.x-k8s.io/queue-name"] = sample.local_queue
        priority = sample.priority or next(iter(sample.space.priorities), None)
        return dict(sorted({**labels, **(priority.labels if priority else {})}.items()))

    @property
    def job_command(self) -> tuple[str, ...]:
        """Command of the job: by default that of the runtime, which starts the ranks."""
        if self.sample.test:
            return ("/bin/bash",)
        return self.sample.command or RuntimeView(self.sample.launch.runtime).command

    @property
    def job_args(self) -> tuple[str, ...]:
        """Arguments of the command: by default a program that shows the host of each rank."""
        test, space = self.sample.test, self.sample.space
        if test:
            told = settings(test, self.sample.launch, space.mounts)
            return ("-c", script(test), f"test-{test}", *told)
        return self.sample.args or self.sample.launch.runtime.launcher.example

    @property
    def initializer(self) -> dict[str, dict[str, str]]:
        """Sources of the steps before the ranks, with a placeholder ``storageUri``."""
        steps = {step.name for step in self.sample.launch.runtime.initializers}
        wanted = (field for field, name in INITIALIZERS.items() if name in steps)
        return {field: {"storageUri": f"s3://example/{field}"} for field in wanted}

    @property
    def manager(self) -> str:
        """Name of the runtime patch's manager: a domain and a path, as Trainer wants it."""
        return f"{self.sample.space.cluster.settings.domain}/job"

    @property
    def volumes(self) -> list[dict[str, Any]]:
        """The team's storage, as pod volumes."""
        return list(self._volumes())

    def _volumes(self) -> Iterator[dict[str, Any]]:
        for claim in self.sample.claims:
            yield {"name": claim.name, "persistentVolumeClaim": {"claimName": claim.name}}
        for secret in self.sample.buckets:
            yield {"name": secret.name, "secret": {"secretName": secret.name}}

    @property
    def volume_mounts(self) -> list[dict[str, Any]]:
        """Mounts of these volumes; secrets are files."""
        return list(self._volume_mounts())

    def _volume_mounts(self) -> Iterator[dict[str, Any]]:
        for claim in self.sample.claims:
            yield {"name": claim.name, "mountPath": claim.mount_path}
        for secret in self.sample.buckets:
            yield {"name": secret.name, "mountPath": secret.mount_path, "readOnly": True}
