"""The cases' base platform as a ground on which jobs are judged, with sample jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.rules.cases import merged, platform_of
from trainyard.model.admission import Answer, Request
from trainyard.model.release import Schemas
from trainyard.render.site import render_site
from trainyard.schema.manifests import check_manifest
from trainyard_jobs.fit.case import Ground
from trainyard_jobs.fit.objects import objects_of
from trainyard_jobs.fit.usage import Snapshot
from trainyard_jobs.fit.verdict import Verdict
from trainyard_jobs.fit.walk import judge

Body = dict[str, Any]


def admits(requests: Sequence[Request]) -> list[Answer]:
    """Answer as a cluster without policies."""
    return [Answer((), "") for _ in requests]


def ground(
    changes: Mapping[str, Any], team: str = "nlp", snapshot: Snapshot | None = None
) -> Ground:
    """Return the cluster of the changed base for the jobs of a team."""
    (site,) = platform_of(changes).sites
    tenant = next(each for each in site.tenants if each.name == team)
    release = site.cluster.release.name

    def faults(body: Body) -> list[str]:
        return [message for _, message in check_manifest(Schemas(release), body)]

    return Ground(site, tenant, objects_of(render_site(site)), snapshot, faults, admits)


def sample(changes: Mapping[str, Any], team: str = "nlp", number: int = 0, **trainer: Any) -> Body:
    """Return a sample job of a team, with other fields of ``spec.trainer``."""
    (site,) = platform_of(changes).sites
    found = [
        each.body
        for each in render_site(site)
        if each.body["kind"] == "TrainJob" and each.namespace == f"team-{team}"
    ]
    body: Body = merged(found[number], {"spec": {"trainer": trainer}})
    return body


def verdict(on: Ground, job: Body) -> Verdict:
    """Return the verdict about a job."""
    (found,) = judge(on, [job])
    return found.verdict
