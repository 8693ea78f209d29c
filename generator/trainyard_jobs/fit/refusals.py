"""Links that refuse a job or its pods: admission policies, Pod Security and ResourceQuotas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.diagnostics import Pointer
from trainyard.model.admission import Answer
from trainyard.model.lookup import mapping
from trainyard.model.quantity import in_base_units
from trainyard.model.reserved import is_no_job_name
from trainyard.model.space import Grant, Space
from trainyard.model.team import Quota
from trainyard_jobs.fit.case import Case
from trainyard_jobs.fit.grants import grant_of
from trainyard_jobs.fit.known import known_refusals
from trainyard_jobs.fit.verdict import Check, Link, Standing

_LINKS = {"ObjectMeta": Link.FORM, "PodSecurity": Link.POD_SECURITY}
"""Links of what refuses an object, other than policies."""
_JOBS = "count/trainjobs.trainer.kubeflow.org"
_FILES = "count/configmaps"
_HOSTS = "-mpi-hostfile"


def policy_checks(case: Case, answers: Sequence[Answer]) -> Iterator[Check]:
    """Yield the answers of the admission policies and of Pod Security about a job and its pods.

    Args:
        case: the job.
        answers: to `Case.requests`, in their order; none when the evaluator is not built.
    """
    if not answers:
        message = "the evaluator is not built; build it once with `trainyard fit --build`"
        yield Check(Link.POLICIES, Standing.UNJUDGED, message)
        yield Check(Link.POD_SECURITY, Standing.UNJUDGED, message)
        if is_no_job_name(case.name, case.ground.site):
            message = (
                f"metadata.name: no job can be named {case.name}, since objects with the name of a "
                "job would take the place of others: choose another name"
            )
            yield Check(Link.POLICIES, Standing.NEVER, message)
        for message in known_refusals(case):
            yield Check(Link.POLICIES, Standing.NEVER, message, _place(case, message))
        return
    yield from _denials(case, answers[0], "")
    for pods, answer in zip(case.pods, answers[1:], strict=True):
        yield from _denials(case, answer, f"pods of {pods.role}: ")


def _denials(case: Case, answer: Answer, whose: str) -> Iterator[Check]:
    for denial in answer.denials:
        link = _LINKS.get(denial.policy, Link.POLICIES)
        place = _place(case, denial.message)
        yield Check(link, Standing.NEVER, f"{whose}{denial.message}", place)
    if answer.error and not answer.denials:
        yield Check(Link.POLICIES, Standing.NEVER, f"{whose}{answer.error}")


def _place(case: Case, message: str) -> Pointer | None:
    """Return the profile's line that a denial's limit comes from; None for a rule for all."""
    space = case.space
    assert space is not None
    team = space.team
    if message.startswith("spec.trainer.numNodes") and (grant := grant_of(case.body, space)):
        return _size_place(grant, space)
    if message.startswith("spec.runtimeRef"):
        return team.at / "runtimes"
    if message.startswith("label kueue.x-k8s.io/queue-name"):
        return team.at / "quota"
    if message.startswith("label kueue.x-k8s.io/priority-class"):
        profile = space.profile if space.profile.priorities else space.cluster
        return profile.at / "priorities"
    return None


def _size_place(grant: Grant, space: Space) -> Pointer:
    """Return the place that limits the nodes of a job: of its namespace, runtime or quota."""
    largest = int(space.profile.largest_job / grant.launch.part)
    if grant.nodes == min(largest, grant.launch.runtime.max_nodes):
        is_own = grant.nodes == largest
        return space.profile.largest_job_at if is_own else grant.launch.runtime.at / "maxNodes"
    return max(_quotas(grant, space), key=lambda quota: quota.maximum).place


def _quotas(grant: Grant, space: Space) -> Iterator[Quota]:
    """Yield the quotas that jobs with a runtime may use."""
    name, is_share = grant.launch.hardware.name, grant.launch.part != 1
    for queue in space.queues:
        for flavor in queue.flavors:
            is_alike = name in {flavor.pool.hardware.name, queue.node_class}
            if is_alike and flavor.quota.is_share == is_share:
                yield flavor.quota


def object_quota_checks(case: Case) -> Iterator[Check]:
    """Yield each ResourceQuota that has no room for the job's objects."""
    snapshot = case.ground.snapshot
    for manifest in case.ground.objects.of("ResourceQuota", case.namespace):
        used = snapshot.quotas.get((case.namespace, manifest.name)) if snapshot else {}
        if used is None:
            message = f"the snapshot has no ResourceQuota {manifest.name} of {case.namespace}"
            yield Check(Link.OBJECT_QUOTA, Standing.UNJUDGED, message)
            continue
        hard = mapping(manifest.body, "spec", "hard")
        for name, needed in _needed(case).items():
            limit = in_base_units(name, str(hard.get(name, needed)))
            taken = in_base_units(name, str(used.get(name, "0")))
            if taken + needed > limit:
                yield Check(
                    Link.OBJECT_QUOTA,
                    Standing.NEVER,
                    f"ResourceQuota {manifest.name} permits {limit} of {name}, {taken} are used, "
                    f"and the job needs {needed}",
                    manifest.at,
                    limit=str(limit),
                    usage=str(taken),
                    available=str(max(0, limit - taken)),
                    repair=("delete finished jobs of the namespace, then submit the job again",),
                )


def _needed(case: Case) -> dict[str, int]:
    """Return the objects that a job needs: itself, and the ConfigMaps that Trainer writes."""
    assert case.runtime is not None
    kept = case.ground.site.cluster.release.reserved_config_maps
    mpi = bool(mapping(case.runtime.body, "spec", "mlPolicy").get("mpi"))
    return {_JOBS: 1, _FILES: sum(ending != _HOSTS or mpi for ending in kept)}
