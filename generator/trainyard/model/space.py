"""A namespace of a team on one cluster: who may do what in it, with which jobs, networks and storage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from trainyard.model import names
from trainyard.model.cluster import Cluster, Priority, group_subjects
from trainyard.model.ids import Ids
from trainyard.model.launch import Launch
from trainyard.model.network import Egress, Network
from trainyard.model.quantity import counted, format_amount, format_bytes
from trainyard.model.queue import Queue
from trainyard.model.runtime import INITIALIZERS
from trainyard.model.storage import Allowance, Claim, StoredSecret
from trainyard.model.team import Team, TeamSpace

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


@dataclass(frozen=True, slots=True)
class Grant:
    """A runtime that a namespace's jobs may use.

    Args:
        nodes: pods of the largest job with it, launcher included.
    """

    launch: Launch
    nodes: int

    @property
    def size(self) -> str:
        """The largest job as text, e.g. ``8 nodes``; on a share of a node its pods."""
        return counted(self.nodes, "node" if self.launch.part == 1 else "pod")

    @property
    def gpus(self) -> int:
        """GPUs of the largest job."""
        return self.nodes * self.launch.gpus


@dataclass(frozen=True, slots=True)
class Sample:
    """A TrainJob to copy."""

    space: Space
    grant: Grant

    @property
    def launch(self) -> Launch:
        """The runtime on its nodes."""
        return self.grant.launch

    @property
    def nodes(self) -> int:
        """Pods of the job: two, or what is the most."""
        return min(2, self.grant.nodes)

    @property
    def name(self) -> str:
        """Name of the TrainJob: of the runtime, and of the nodes where the runtime has several."""
        runtime = self.launch.runtime.name
        several = sum(launch.runtime.name == runtime for launch in self.space.launches) > 1
        return names.sample(
            self.space.namespace, f"{runtime}-{self.launch.nodes}" if several else runtime
        )

    @property
    def labels(self) -> dict[str, str]:
        """The queue, and the lowest class that may be used, with its deadline."""
        labels = {"kueue.x-k8s.io/queue-name": self.launch.hardware.node_class}
        for lowest in self.space.priorities[:1]:
            labels |= lowest.labels
        return dict(sorted(labels.items()))

    @property
    def initializer(self) -> dict[str, dict[str, str]]:
        """Where the steps before the ranks fetch from; a place that nobody has."""
        steps = {step.name for step in self.launch.runtime.initializers}
        wanted = (field for field, name in INITIALIZERS.items() if name in steps)
        return {field: {"storageUri": f"s3://example/{field}"} for field in wanted}

    @property
    def manager(self) -> str:
        """Who patches the runtime: a domain and a path, as Trainer's webhook wants it."""
        return f"{self.space.cluster.settings.domain}/job"

    @property
    def volumes(self) -> list[dict[str, Any]]:
        """The team's storage, as pod volumes."""
        claims = [
            {"name": c.name, "persistentVolumeClaim": {"claimName": c.name}}
            for c in self.space.claims
        ]
        return claims + [
            {"name": s.name, "secret": {"secretName": s.name}} for s in self.space.buckets
        ]

    @property
    def volume_mounts(self) -> list[dict[str, Any]]:
        """Where they appear; secrets as files, since sshd drops the container's environment."""
        claims: list[dict[str, Any]] = [
            {"name": c.name, "mountPath": c.mount_path} for c in self.space.claims
        ]
        return claims + [
            {"name": s.name, "mountPath": s.mount_path, "readOnly": True}
            for s in self.space.buckets
        ]


@dataclass(frozen=True, slots=True)
class Space:
    """A namespace of a team on one cluster, complete.

    Args:
        ids: user ids that the ledger gives it; None where OpenShift or the release does.
    """

    team: Team
    profile: TeamSpace
    cluster: Cluster
    queues: tuple[Queue, ...]
    grants: tuple[Grant, ...]
    priorities: tuple[Priority, ...]
    networks: tuple[Network, ...]
    claims: tuple[Claim, ...]
    allowances: tuple[Allowance, ...]
    secrets: tuple[StoredSecret, ...]
    ids: Ids | None

    @property
    def namespace(self) -> str:
        """Its name on the cluster."""
        return names.namespace(self.team.name, self.profile.name)

    @property
    def launches(self) -> tuple[Launch, ...]:
        """Runtimes that its jobs may use."""
        return tuple(grant.launch for grant in self.grants)

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
        """RoleBindings: each role that somebody has, and the clean-up of finished jobs, if any.

        None for the SCC of job pods: OpenShift binds restricted-v2 to every authenticated account
        (openshift/cluster-kube-apiserver-operator:bindata/bootkube/scc-manifests).
        """
        roles = (role for role in ("admin", "user", "viewer") if self._subjects(role))
        bindings = tuple(
            Binding(role, f"trainyard-team-{role}", self._subjects(role)) for role in roles
        )
        if cleanup := self.cluster.finished_jobs:
            account = {
                "kind": "ServiceAccount",
                "name": cleanup.name,
                "namespace": names.SYSTEM_NAMESPACE,
            }
            bindings += (Binding(cleanup.name, cleanup.role, [account]),)
        return bindings

    def _subjects(self, role: str) -> list[dict[str, str]]:
        accounts = [
            self._account(account.name) for account in self.team.accounts if account.role == role
        ]
        return group_subjects(self.team.groups.get(role, ())) + accounts

    def _account(self, name: str) -> dict[str, str]:
        return {"kind": "ServiceAccount", "name": name, "namespace": self.namespace}

    @property
    def everybody(self) -> list[dict[str, str]]:
        """All who have a role in the team."""
        return [subject for role in ("admin", "user", "viewer") for subject in self._subjects(role)]

    @property
    def accounts(self) -> tuple[str, ...]:
        """Service accounts that we make, the ranks' first; the others exist already."""
        return (
            names.JOB_ACCOUNT,
            *(account.name for account in self.team.accounts if not account.owner),
        )

    @property
    def samples(self) -> tuple[Sample, ...]:
        """A job to copy for each runtime."""
        return tuple(Sample(self, grant) for grant in self.grants)

    @property
    def buckets(self) -> tuple[StoredSecret, ...]:
        """S3 connections."""
        return tuple(secret for secret in self.secrets if secret.kind == "s3")

    @property
    def pull_secrets(self) -> tuple[StoredSecret, ...]:
        """Image pull secrets."""
        return tuple(secret for secret in self.secrets if secret.kind == "pull")

    @property
    def made_volumes(self) -> tuple[Claim, ...]:
        """Claims whose PersistentVolume we make."""
        return tuple(claim for claim in self.claims if claim.storage.kind == "nfs")

    @property
    def claimable_classes(self) -> tuple[str, ...]:
        """Storage classes that its admins may claim of."""
        return tuple(sorted({each.storage.storage_class for each in self.allowances}))

    @property
    def quota(self) -> dict[str, str]:
        """Objects and bytes that a namespace may hold: counts, and claims by their class.

        A quota on GPUs, cpu or pods beside Kueue leaves half a gang running and holding its GPUs.
        """
        claimed = [(claim.storage.storage_class, claim.request.size) for claim in self.claims]
        allowed = [(each.storage.storage_class, each.size) for each in self.allowances]
        quota = {
            **_COUNTS,
            "requests.storage": format_bytes(sum(size for _, size in (*claimed, *allowed))),
        }
        for name in self.claimable_classes:
            size = sum(size for each, size in (*claimed, *allowed) if each == name)
            quota[f"{name}.storageclass.storage.k8s.io/requests.storage"] = format_bytes(size)
        return dict(sorted(quota.items()))

    @property
    def namespace_annotations(self) -> dict[str, str]:
        """Whom to call, and its user ids; and a namespace goes only when a person confirms it."""
        return {
            "argocd.argoproj.io/sync-options": "Prune=false,Delete=confirm",
            **self.contact,
            **self._claimable,
            **self._display_name,
            **(self.ids.annotations if self.ids else {}),
        }

    @property
    def _claimable(self) -> dict[str, str]:
        classes = " ".join(self.claimable_classes)
        return {self.cluster.claimable_key: classes} if classes else {}

    @property
    def _display_name(self) -> dict[str, str]:
        key = self.cluster.release.display_name_key
        return (
            {key: f"Team {' '.join(filter(None, (self.team.name, self.profile.name)))}"}
            if key
            else {}
        )

    @property
    def egress(self) -> tuple[Egress, ...]:
        """Ways out that the platform declares for every team."""
        return self.cluster.egress

    @property
    def limits(self) -> dict[str, str]:
        """Parameters of the admission policy, as a ConfigMap holds them: what TrainJobs in it may ask for."""
        limits = {
            "deadlines": " ".join(
                f"{each.name}={each.deadline}" for each in self.priorities if each.deadline
            ),
            "priorityClasses": " ".join(each.name for each in self.priorities),
            "queues": " ".join(queue.node_class for queue in self.queues),
            "runtimes": " ".join(launch.name for launch in self.launches),
        }
        for grant in self.grants:
            launch = grant.launch
            limits[f"gpusPerNode.{launch.name}"] = str(launch.gpus)
            limits[f"maxNodes.{launch.name}"] = str(grant.nodes)
            limits[f"longestName.{launch.name}"] = str(launch.longest_job_name)
            limits[f"steps.{launch.name}"] = " ".join(
                step.name for step in launch.runtime.initializers
            )
            limits[f"queue.{launch.name}"] = launch.hardware.node_class
            limits[f"minNodes.{launch.name}"] = str(launch.runtime.launcher.smallest_job)
            limits[f"ranksPerNode.{launch.name}"] = str(launch.ranks)
            limits[f"roles.{launch.name}"] = " ".join(launch.runtime.launcher.roles)
            limits[f"threadsPerRank.{launch.name}"] = str(launch.threads_per_rank)
            limits[f"perNode.{launch.name}"] = " ".join(
                f"{name}={format_amount(name, amount)}" for name, amount in launch.per_node.items()
            )
        return dict(sorted(limits.items()))

    @property
    def limits_name(self) -> str:
        """Name of the ConfigMap with the parameters and of the binding of the policy that protects others."""
        return names.job_limits(self.namespace)

    @property
    def help_name(self) -> str:
        """Name of the binding of the policy that keeps a job from hanging."""
        return names.job_help(self.namespace)
