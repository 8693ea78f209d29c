"""Judge TrainJobs by the objects that the profiles are rendered to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from trainyard.diagnostics import TreeError
from trainyard.generation.generate import Generation
from trainyard.generation.objects import component_manifests
from trainyard.handed_in import listed, objects, read_source
from trainyard.model.lookup import text
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.model.tenant import Tenant
from trainyard.schema.manifests import check_manifest
from trainyard_jobs.admission.evaluator import judge_of
from trainyard_jobs.convert.kinds import door
from trainyard_jobs.fit.case import Ground
from trainyard_jobs.fit.grants import grant_of
from trainyard_jobs.fit.objects import objects_of
from trainyard_jobs.fit.repair import with_change
from trainyard_jobs.fit.usage import Snapshot, snapshot_of
from trainyard_jobs.fit.verdict import Check, Link, Standing, Verdict
from trainyard_jobs.fit.walk import Judged, judge
from trainyard_jobs.workflows.useless import notes_of

Body = dict[str, Any]

_JOB = ("trainer.kubeflow.org/v1alpha1", "TrainJob")


@dataclass(frozen=True, slots=True)
class Jobs:
    """The TrainJobs of a file.

    Args:
        others: number of its objects of other kinds, which are not judged.
        doors: what to do with those of them that are jobs.
    """

    bodies: tuple[Body, ...]
    others: int
    doors: tuple[str, ...] = ()

    @property
    def namespaces(self) -> set[str]:
        """The namespaces that they name; empty for a job that names none."""
        return {text(body, "metadata", "namespace") for body in self.bodies}


def read_jobs(file: Path) -> Jobs:
    """Return the TrainJobs of a YAML or JSON file, in their order.

    Raises:
        TreeError: it can't be read, is not YAML, or has an object without kind.
    """
    source = read_source(file)
    jobs, others = list[Body](), list[Body]()
    for _, body in objects(source.file, source.value):
        is_ours = (body.get("apiVersion"), body["kind"]) == _JOB
        (jobs if is_ours else others).append(body)
    doors = dict.fromkeys(f"{body['kind']}: {door(body)}" for body in others if door(body))
    return Jobs(tuple(jobs), len(others), tuple(doors))


def read_snapshot(file: Path) -> Snapshot:
    """Return what objects of a cluster show as used.

    Args:
        file: what ``kubectl get -A -o json`` prints of ClusterQueues, Workloads, ResourceQuotas
            and PersistentVolumeClaims.

    Raises:
        TreeError: it can't be read, or is not a list of such objects.
    """
    bodies = [body for _, body in listed(file)]
    try:
        snapshot = snapshot_of(bodies)
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise TreeError(f"{file} shows no usage: {error}") from error
    if not snapshot.queues:
        raise TreeError(f"{file} has no ClusterQueue with a status, which shows what is in use")
    return snapshot


def ground_of(
    site: Site, tenant: Tenant, manifests: Sequence[Manifest], snapshot: Snapshot | None
) -> Ground:
    """Return a cluster on which the jobs of a team are judged.

    Args:
        site: the cluster.
        tenant: the team on it.
        manifests: its objects, those of hand-written components included.
        snapshot: what is in use; None when it is not known.
    """
    release = site.cluster.release

    def faults(body: Body) -> Iterator[str]:
        return (message for _, message in check_manifest(release.schemas, body, release.name))

    judged = judge_of(site.cluster.versions["kubernetes"], manifests)
    return Ground(site, tenant, objects_of(manifests), snapshot, faults, judged)


def fit_jobs(
    generation: Generation, cluster: str, team: str, jobs: Jobs, snapshot: Snapshot | None
) -> tuple[Verdict, ...]:
    """Return the verdict about each job, in their order.

    Args:
        generation: without errors, with this cluster.
        cluster: its name.
        team: that submits the jobs; it must be on the cluster.
        jobs: TrainJobs.
        snapshot: what is in use; None when it is not known.

    Raises:
        ToolError: the evaluator fails.
    """
    assert generation.checked.platform is not None
    site = next(site for site in generation.checked.platform.sites if site.name == cluster)
    tenant = next(tenant for tenant in site.tenants if tenant.name == team)
    manifests = (*generation.manifests[cluster], *component_manifests(site))
    ground = ground_of(site, tenant, manifests, snapshot)
    judged = judge(ground, jobs.bodies)
    return tuple(map(partial(_told, ground), jobs.bodies, judged))


def _told(ground: Ground, job: Body, judged: Judged) -> Verdict:
    """Return a verdict with a change that helps, and with notes about the command."""
    verdict, space = with_change(ground, job, judged), judged.case.space
    grant = grant_of(judged.case.body, space) if space else None
    if space is None or grant is None or verdict.standing is Standing.NEVER:
        return verdict
    notes = [Check(Link.COMMAND, Standing.ADMITTED, note) for note in notes_of(job, space, grant)]
    return replace(verdict, checks=(*verdict.checks, *notes))
