"""Check what an account of another operator can't do with the rights that its operator gives it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Protocol

from trainyard.model import names
from trainyard.model.space import Space
from trainyard_rehearsal.checks import account_objects as objects
from trainyard_rehearsal.checks import maintainers
from trainyard_rehearsal.checks.account_objects import Attack
from trainyard_rehearsal.checks.jobs import as_account
from trainyard_rehearsal.checks.new_roles import wait_until_permitted
from trainyard_rehearsal.checks.operator_commands import RULES, OperatorCommands
from trainyard_rehearsal.checks.platform_data import naming_stores
from trainyard_rehearsal.checks.refusals import (
    DENIED,
    EVICTION,
    FINALIZER,
    FORCE,
    GRACE,
    OF_DELIVERY,
    ORPHAN,
    OWNER,
    RANK_FIXED,
    RANK_JOB,
    RANK_JOBSET,
    STATUS,
)
from trainyard_rehearsal.checks.request_cases import RequestCase, RequestTally
from trainyard_rehearsal.checks.variants import QUEUE_LABEL, as_json, with_change
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.control_plane.nodes import nodes
from trainyard_rehearsal.outcome import Outcome

_NAME = "rehearsal-pipelines"
_RANK = "rehearsal-node-0-0-bcdfg"
_RBAC = "rbac.authorization.k8s.io"
_RULES: tuple[tuple[str, list[str]], ...] = (
    ("", ["configmaps", "persistentvolumeclaims", "pods", "pods/eviction", "pods/status"]),
    ("", ["serviceaccounts", "services"]),
    ("apps", ["deployments", "replicasets"]),
    ("batch", ["cronjobs", "jobs", "jobs/status"]),
    ("jobset.x-k8s.io", ["jobsets"]),
    ("external-secrets.io", ["externalsecrets"]),
    ("kubeflow.org", ["*"]),
    ("networking.k8s.io", ["networkpolicies"]),
    *RULES,
)
"""What OpenShift AI gives to the account of pipelines, JobSets, and what an aggregated role may add
(opendatahub-io/data-science-pipelines-operator:
config/internal/apiserver/default/role_pipeline-runner.yaml.tmpl@134a96d)."""

_KUBERNETES = "system:serviceaccount:kube-system:"
_CONTROLLERS = ("statefulset-controller", "replicaset-controller", "daemon-set-controller")
"""Controllers that create pods from a template of anybody's."""


class _Request(Protocol):
    def __call__(self, *, dry_run: bool) -> object: ...


def check_accounts(lab: Lab, spaces: Sequence[Space]) -> Iterator[Outcome]:
    """Forge ranks, Jobs and keys of the delivery with an account of the first namespace.

    Args:
        lab: with the tree applied.
        spaces: namespaces of teams.
    """
    hostile, harmless = RequestTally(), RequestTally()
    if spaces:
        tried = _Tried(lab, spaces[0])
        with tried.prepared():
            attacks = (tried.pods(), tried.jobs(), tried.keys(), tried.secrets(), tried.changes())
            for cases in attacks:
                hostile.send(cases)
            hostile.send(tried.commands.hostile())
            harmless.send(tried.harmless())
            harmless.send(tried.deletions())
            harmless.send(tried.commands.harmless())
    yield hostile.outcome("forged ranks refused")
    yield harmless.outcome("operators' objects accepted")


class _Tried:
    """An account of a namespace with rights that no role of a team has."""

    def __init__(self, lab: Lab, space: Space) -> None:
        self._lab, self._space = lab, space
        controllers = lab.plan.components.controllers
        self._jobset = as_account(lab.api, controllers["jobset"].account)
        self._trainer = as_account(lab.api, controllers["trainer"].account)
        self._account = as_account(lab.api, f"system:serviceaccount:{space.namespace}:{_NAME}")

    @contextmanager
    def prepared(self) -> Iterator[None]:
        """Create the account's role, and a rank with its Job; delete them afterwards."""
        made = [*self._role(), *maintainers.rights(), *self._ranks(), self._owned()]
        made += self.commands.existing()
        for body in made:
            self._lab.api.apply(body)
        wait_until_permitted(self._lab, self._account, "create", "pods", self._space.namespace)
        yield
        for body in reversed(made):
            self._lab.api.delete(body)

    @property
    def commands(self) -> OperatorCommands:
        """What the account has done by operators."""
        rank, _ = self._ranks()
        return OperatorCommands(self._lab, self._space, self._account, rank, self._owned())

    def _role(self) -> Iterator[Body]:
        version = f"{_RBAC}/v1"
        metadata = {"name": _NAME, "namespace": self._space.namespace}
        rules = [{"apiGroups": [group], "resources": of, "verbs": ["*"]} for group, of in _RULES]
        yield {"apiVersion": version, "kind": "Role", "metadata": metadata, "rules": rules}
        yield {
            "apiVersion": version,
            "kind": "RoleBinding",
            "metadata": metadata,
            "roleRef": {"apiGroup": _RBAC, "kind": "Role", "name": _NAME},
            "subjects": [{"kind": "ServiceAccount", **metadata}, *self.commands.operators],
        }

    def _ranks(self) -> tuple[Body, Body]:
        """Return a rank on a node, and its Job, which waits in a queue that does not exist.

        The API server gives no grace to a pod without a node.
        """
        label = {"metadata": {"labels": {names.JOB_LABEL: _NAME}}}
        waiting = {
            "metadata": {"labels": {QUEUE_LABEL: "of-nobody"}},
            "spec": {"suspend": True, "template": label},
        }
        first = next(nodes(self._lab.plan.site))
        placed = with_change(label, {"spec": {"nodeName": first["metadata"]["name"]}})
        rank, of_rank = objects.pod(self._space, _RANK), objects.job(self._space, _NAME)
        return with_change(rank, placed), with_change(with_change(of_rank, label), waiting)

    def _owned(self) -> Body:
        """Return a pod that goes with its owner; any object that exists can be one."""
        name, at = "kube-root-ca.crt", self._space.namespace
        maps = partial(self._lab.api.list, "v1", "ConfigMap", at)
        # Kubernetes makes it soon after the namespace.
        self._lab.processes.wait_until(
            lambda: any(each["metadata"]["name"] == name for each in maps()), f"{name} in {at}", 60
        )
        found = self._lab.api.get("v1", "ConfigMap", name, at)
        return with_change(
            objects.pod(self._space, "rehearsal-owned"),
            {
                "metadata": objects.owners(
                    "v1", "ConfigMap", name=name, uid=found["metadata"]["uid"]
                )
            },
        )

    def _delivered(self) -> Body:
        """Return the account of jobs, which the tree has."""
        name = names.JOB_ACCOUNT
        return self._lab.api.get("v1", "ServiceAccount", name, self._space.namespace)

    def _kubernetes(self, controller: str) -> Api:
        return as_account(self._lab.api, f"{_KUBERNETES}{controller}")

    def pods(self) -> Iterator[RequestCase]:
        """Yield pods that look like ranks, of the account and of controllers that serve it."""
        space, pod = self._space, objects.pod(self._space)
        controllers = [self._kubernetes(name) for name in _CONTROLLERS]
        for maker in (self._account, *controllers, self._kubernetes("job-controller")):
            yield from self._created(maker, pod, objects.forged_pods(self._lab.plan.site, space))
        of_jobs = self._kubernetes("job-controller")
        for attacks in (objects.networks_of_ranks, objects.not_of_kueue):
            yield from self._created(of_jobs, pod, attacks(self._lab.plan.site, space))
        for maker in (self._account, *controllers):
            yield from self._created(maker, pod, objects.labelled())
            yield from self._created(maker, pod, objects.mounting_files())

    def jobs(self) -> Iterator[RequestCase]:
        """Yield Jobs, also those that the controller of CronJobs would create, and a JobSet."""
        job = objects.job(self._space)
        for maker in (self._account, self._kubernetes("cronjob-controller")):
            yield from self._created(maker, job, objects.forged_jobs())
        yield from self._created(self._account, job, objects.disowned())
        job_set = objects.job_set(self._space)
        yield from self._created(self._account, job_set, [({}, RANK_JOBSET)])

    def keys(self) -> Iterator[RequestCase]:
        """Yield objects with what stops a sync or a deletion."""
        for body, attack in (*objects.stopping(self._space), *objects.owned(self._space)):
            yield from self._created(self._account, body, [attack])
        yield from self._created(
            self._account, objects.network_policy(self._space), objects.open_to_others()
        )

    def secrets(self) -> Iterator[RequestCase]:
        """Yield ExternalSecrets, which the chart of External Secrets lets editors write."""
        cluster = self._lab.plan.site.cluster
        for body in naming_stores(cluster, self._space.namespace):
            yield from self._created(self._account, body, [({}, DENIED)])

    def changes(self) -> Iterator[RequestCase]:
        """Yield changes of a rank and of its Job, and deletions of the Job."""
        rank, of_rank = self._ranks()
        for change in objects.rank_changes():
            for body, refusal in ((rank, RANK_FIXED), (of_rank, RANK_JOB)):
                request = partial(self._account.patch, body, change)
                yield self._case(body, f"changed to {as_json(change)}", refusal, request)
        alone: Body = {"metadata": {"ownerReferences": None}}
        request = partial(self._account.patch, self._owned(), alone)
        yield self._case(self._owned(), "without its owner", OWNER, request)
        delete = partial(self._account.delete, self._owned(), "Orphan")
        yield self._case(self._owned(), "deleted, Orphan", ORPHAN, delete)
        hold = {"metadata": {"finalizers": ["example.com/hold"]}}
        request = partial(self._account.patch, rank, hold)
        yield self._case(rank, f"changed to {as_json(hold)}", RANK_FIXED, request)
        for body, status in ((rank, {"reason": "x"}), (of_rank, {"active": 1})):
            request = partial(self._account.patch, body, {"status": status}, "status")
            yield self._case(body, "with another status", STATUS, request)
        yield from self._deletions(rank)
        trainer = self._delivered()
        unlabelled: Body = {"metadata": {"labels": None}}
        owned: Body = {"metadata": objects.owners()}
        for change, refusal in ((hold, FINALIZER), (owned, OWNER), (unlabelled, OF_DELIVERY)):
            request = partial(self._account.patch, trainer, change)
            yield self._case(trainer, f"changed to {as_json(change)}", refusal, request)
        delete = partial(self._account.delete, trainer)
        yield self._case(trainer, "deleted", OF_DELIVERY, delete)
        # Either of two policies may answer the second.
        for dependents, refusal in (("Background", RANK_JOB), ("Orphan", "denied request")):
            delete = partial(self._account.delete, of_rank, dependents)
            yield self._case(of_rank, f"deleted, {dependents}", refusal, delete)

    def _deletions(self, rank: Body) -> Iterator[RequestCase]:
        """Yield deletions and evictions after which its node is held, or given away too early."""
        for grace in (31, 1_000_000_000):
            delete = partial(self._account.delete, rank, grace=grace)
            yield self._case(rank, f"deleted after {grace} seconds", GRACE, delete)
        delete = partial(self._account.delete, rank, grace=0)
        yield self._case(rank, "deleted by force", FORCE, delete)
        evictions: tuple[Body, ...] = (
            {"gracePeriodSeconds": 0},
            {"gracePeriodSeconds": 1_000_000_000},
            {"propagationPolicy": "Orphan"},
        )
        for options in evictions:
            evict = partial(self._account.create, rank, "eviction", objects.eviction(rank, options))
            yield self._case(rank, f"evicted with {as_json(options)}", EVICTION, evict)

    def harmless(self) -> Iterator[RequestCase]:
        """Yield what controllers create for jobs, and operators for pipelines and workbenches."""
        space, site = self._space, self._lab.plan.site
        labels = {"labels": {names.JOB_LABEL: "x"}}
        rank = objects.made_for_job()
        nodes = [change for change, _ in objects.taken(site, space) if "spec" in change]
        ranks = [(with_change(change, rank), "") for change in nodes]
        pod, job, service = (each(space) for each in (objects.pod, objects.job, objects.service))
        yield from self._created(self._kubernetes("job-controller"), pod, [(rank, ""), *ranks])
        of_rank = {"metadata": labels, "spec": {"template": {"metadata": labels}}}
        yield from self._created(self._jobset, job, [(of_rank, "")])
        yield from self._created(self._trainer, objects.job_set(space), [({}, "")])
        of_pipelines = [(change, "") for change in objects.of_pipelines()]
        yield from self._created(self._account, pod, of_pipelines)
        for body in (service, *objects.read_by_pod(space)):
            yield from self._created(self._account, body, [({}, "")])
        yield from self._created(self._account, objects.network_policy(space), [({}, "")])
        held = {"metadata": {**objects.owners(), "finalizers": ["example.com/hold"]}}
        yield from self._created(self._jobset, service, [(held, "")])
        rank, of_rank = self._ranks()
        request = partial(self._lab.api.patch, of_rank, {"status": {}}, "status")
        yield self._case(of_rank, "with another status", "", request)

    def deletions(self) -> Iterator[RequestCase]:
        """Yield deletions that hold no node, and give none away too early."""
        rank, _ = self._ranks()
        yield from maintainers.maintenance(self._lab, self._space, rank)
        for grace in (None, 1, 30):
            delete = partial(self._account.delete, rank, grace=grace)
            yield self._case(rank, f"deleted after {grace} seconds", "", delete)
        evict = partial(self._account.create, rank, "eviction", objects.eviction(rank, {}))
        yield self._case(rank, "evicted", "", evict)
        # KubeSpawner's way to stop a notebook that did not start.
        delete = partial(self._account.delete, self._owned(), grace=0)
        yield self._case(self._owned(), "deleted by force", "", delete)

    def _created(self, maker: Api, body: Body, attacks: Iterable[Attack]) -> Iterator[RequestCase]:
        for change, refusal in attacks:
            request = partial(maker.create, with_change(body, change))
            yield self._case(body, f"with {as_json(change)}", refusal, request)

    def _case(self, body: Body, change: str, refusal: str, request: _Request) -> RequestCase:
        display = f"{self._space.namespace}: a {body['kind']} {change}"[:200]
        return RequestCase(display, partial(request, dry_run=True), self._space.team.at, refusal)
