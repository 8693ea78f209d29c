"""A TrainJob on a cluster, with the objects that concern it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from trainyard.diagnostics import Pointer
from trainyard.model.admission import Judge, Request
from trainyard.model.lookup import mapping
from trainyard.model.manifest import Manifest
from trainyard.model.names import ADMITTED_LABEL, DEFAULT_QUEUE, JOB_CONTROLLER, JOB_LABEL
from trainyard.model.people import SIGNED_IN, acting_as
from trainyard.model.platform import Site
from trainyard.model.space import Space
from trainyard.model.tenant import Tenant
from trainyard_jobs.fit.form import LONGEST_NAME, defaulted, form_faults, trainer_faults
from trainyard_jobs.fit.grants import RUNTIME, grant_of, home_of, runtime_named
from trainyard_jobs.fit.objects import Objects
from trainyard_jobs.fit.pods import Pods, pods_of
from trainyard_jobs.fit.usage import Snapshot
from trainyard_jobs.fit.verdict import Check, Link, Standing

Body = dict[str, Any]

_OWNERS = "ownerReferences"
_GENERATE = "generateName"
_OF_METADATA = ("annotations", "finalizers", _GENERATE, "labels", "name", "namespace", _OWNERS)
_ABSENT: tuple[object, ...] = (None, "")
"""Values of a name or namespace that are none to the API server."""
_RANDOM = "xxxxx"
"""Stands for the characters that the API server appends to `generateName`, of which it keeps 58
(kubernetes/apiserver:pkg/storage/names/generate.go@v0.36.3)."""
_ACCOUNTS = "system:serviceaccounts"
_CONTROLLER_GROUPS = ("system:authenticated", _ACCOUNTS, f"{_ACCOUNTS}:kube-system")


@dataclass(frozen=True, slots=True)
class Ground:
    """A cluster on which jobs of a team are judged.

    Args:
        objects: everything that the cluster is given.
        snapshot: what is in use; None when it is not known.
        faults: returns what the API server's schema of its kind refuses in an object.
        judge: the cluster's admission plugins; None when the evaluator is not built.
    """

    site: Site
    tenant: Tenant
    objects: Objects
    snapshot: Snapshot | None
    faults: Callable[[Body], Iterable[str]]
    judge: Judge | None

    @property
    def spaces(self) -> dict[str, Space]:
        """The team's namespaces by name."""
        return {space.namespace: space for space in self.tenant.spaces}

    @property
    def patches_runtimes(self) -> bool:
        """Return whether jobs change pods by ``runtimePatches``."""
        return self.site.cluster.release.patches_runtimes


@dataclass(frozen=True, slots=True)
class Case:
    """A job with what it names.

    Args:
        body: with its namespace and defaults.
        space: its namespace; None when it is none of the team's.
        runtime: None when there is none of its name.
        pods: none when they can't be made.
        checks: answers of the links that need no other program.
    """

    ground: Ground
    body: Body
    space: Space | None
    runtime: Manifest | None
    pods: tuple[Pods, ...]
    checks: tuple[Check, ...]

    @property
    def name(self) -> str:
        """Name of the job."""
        return str(mapping(self.body, "metadata").get("name", ""))

    @property
    def namespace(self) -> str:
        """Namespace of the job."""
        return str(mapping(self.body, "metadata").get("namespace", ""))

    @property
    def is_formed(self) -> bool:
        """Return whether the API server can read the job; if not, no other link is judged."""
        refusing = {check.link for check in self.checks if check.standing is Standing.NEVER}
        return refusing.isdisjoint((Link.NAMESPACE, Link.FORM))

    def requests(self) -> list[Request]:
        """Return the creation of the job by a user of its team, then of a pod of each role."""
        if not self.is_formed or self.space is None:
            return []
        team = self.space.team
        named = team.groups.get("user") or team.groups.get("admin") or ()
        user, groups = acting_as(named[0]) if named else (f"somebody@{team.name}", (SIGNED_IN,))
        job = Request(self.body, "trainjobs", user, groups)
        return [job, *map(self._pod, self.pods)]

    def _pod(self, pods: Pods) -> Request:
        """Return the creation of a pod by the controller of Jobs, as Kueue lets it be."""
        metadata = mapping(pods.template, "metadata")
        added = {JOB_LABEL: self.name, ADMITTED_LABEL: pods.role}
        labels = {**mapping(metadata, "labels"), **added}
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": self.name, "uid": "0"}
        body = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                **metadata,
                "labels": labels,
                "name": f"{self.name}-{pods.role}-0-0",
                "namespace": self.namespace,
                "ownerReferences": [{**owner, "controller": True}],
            },
            "spec": mapping(pods.template, "spec"),
        }
        return Request(body, "pods", JOB_CONTROLLER, _CONTROLLER_GROUPS)


def case_of(ground: Ground, job: Body) -> Case:
    """Return a job with its runtime and pods.

    Args:
        ground: the cluster.
        job: a TrainJob as the user wrote it; without a namespace it is for the one
            that may use its runtime.
    """
    body = _placed(job, home_of(job, ground.tenant.spaces).namespace)
    namespace = str(mapping(body, "metadata").get("namespace"))
    space = ground.spaces.get(namespace)
    checks = [*_namespace_check(ground, namespace, space)]
    checks += _never(Link.FORM, _schema_faults(ground, body))
    runtime, pods = None, tuple[Pods, ...]()
    if not checks:
        body = defaulted(
            body,
            patches_runtimes=ground.patches_runtimes,
            has_default_queue=ground.objects.find("LocalQueue", DEFAULT_QUEUE, namespace)
            is not None,
        )
        runtime = _runtime(ground, body)
        checks += _never(Link.FORM, _form_faults(ground, space, body))
    if runtime is None:
        checks += _missing_runtime(ground, space, body)
    else:
        faults = trainer_faults(body, runtime.body, patches_runtimes=ground.patches_runtimes)
        checks += _never(Link.RUNTIME, faults, runtime.at)
        try:
            pods = _pods(ground, runtime.body, body, namespace)
        except ValueError as error:
            checks += _never(Link.FORM, [str(error)])
    return Case(ground, body, space, runtime, pods, (*_assumed(job, namespace), *checks))


def naming(job: Body) -> tuple[str, int]:
    """Return the field that names a job, and how many characters the API server appends to it.

    Args:
        job: as the user wrote it.
    """
    metadata = mapping(job, "metadata")
    if metadata.get(_GENERATE) and metadata.get("name") in _ABSENT:
        return _GENERATE, len(_RANDOM)
    return "name", 0


def _placed(job: Body, namespace: str) -> Body:
    """Return a job with a namespace, and without what only the API server writes."""
    metadata = mapping(job, "metadata")
    kept = {key: metadata[key] for key in _OF_METADATA if metadata.get(key) not in _ABSENT}
    if _GENERATE in kept:
        kept.setdefault("name", f"{kept[_GENERATE]}"[:58] + _RANDOM)
    placed = {**job, "metadata": {"namespace": namespace, **kept}}
    placed.pop("status", None)
    return placed


def _assumed(job: Body, namespace: str) -> Iterator[Check]:
    if mapping(job, "metadata").get("namespace") in _ABSENT:
        message = f"the job names none, so it is judged in {namespace}"
        yield Check(Link.NAMESPACE, Standing.ADMITTED, message)


def _namespace_check(ground: Ground, namespace: str, space: Space | None) -> Iterator[Check]:
    if space is None:
        team = ground.tenant.team
        known = ", ".join(ground.spaces)
        message = f"namespace {namespace} is none of team {team.name}'s on this cluster: {known}"
        yield Check(Link.NAMESPACE, Standing.NEVER, message, team.at)


def _never(link: Link, faults: Iterable[str], at: Pointer | None = None) -> Iterator[Check]:
    for fault in faults:
        yield Check(link, Standing.NEVER, fault, at)


def _schema_faults(ground: Ground, body: Body) -> Iterable[str]:
    # The schemas have only the metadata that the tree writes; the evaluator judges the others.
    metadata = dict(mapping(body, "metadata"))
    metadata.pop(_OWNERS, None)
    metadata.pop(_GENERATE, None)
    return ground.faults({**body, "metadata": metadata})


def _form_faults(ground: Ground, space: Space | None, body: Body) -> Iterator[str]:
    grant = grant_of(body, space) if space else None
    longest = grant.launch.longest_job_name if grant else LONGEST_NAME
    return form_faults(body, longest_name=longest, patches_runtimes=ground.patches_runtimes)


def _runtime(ground: Ground, body: Body) -> Manifest | None:
    name = runtime_named(body, ground.tenant.team)
    return ground.objects.find(RUNTIME, name) if name else None


def _missing_runtime(ground: Ground, space: Space | None, body: Body) -> Iterator[Check]:
    """Yield that there is no runtime of a job's name, with those that its team may use.

    A job that can't be read may name none.
    """
    team, reference = ground.tenant.team, mapping(body, "spec", "runtimeRef")
    name = reference.get("name")
    if not isinstance(name, str) or _runtime(ground, body) is not None:
        return
    message = f"there is no {reference.get('kind', RUNTIME)} `{name}`"
    if space is not None:
        allowed = ", ".join(grant.launch.name for grant in space.grants) or "none"
        message += f": team {team.name} may use {allowed} in {space.namespace}"
    yield Check(Link.RUNTIME, Standing.NEVER, message, team.at / "runtimes")


def _pods(ground: Ground, runtime: Body, body: Body, namespace: str) -> tuple[Pods, ...]:
    """Return the pods of a job with the defaults of its namespace.

    Raises:
        ValueError: an amount is not a quantity.
    """
    ranges = [manifest.body for manifest in ground.objects.of("LimitRange", namespace)]
    return pods_of(runtime, body, ranges)
