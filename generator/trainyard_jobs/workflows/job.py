"""Make a TrainJob that somebody asks for, and judge it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.generation.generate import Generation
from trainyard.render.site import render_sample
from trainyard.yaml_io.emitter import emit
from trainyard_jobs.convert.asked import find
from trainyard_jobs.convert.reasons import Asked
from trainyard_jobs.fit.verdict import Link, Standing, Verdict
from trainyard_jobs.workflows.convert import tenant_of
from trainyard_jobs.workflows.fit import Jobs, fit_jobs


@dataclass(frozen=True, slots=True)
class Made:
    """A TrainJob and what becomes of it.

    Args:
        text: the TrainJob with its comments.
    """

    text: str
    verdict: Verdict


def make_job(generation: Generation, cluster: str, team: str, asked: Asked) -> Made:
    """Return the job that somebody asks for.

    Args:
        generation: without errors, with this cluster.
        cluster: its name.
        team: that submits the job; it must be on the cluster.
        asked: for what.

    Raises:
        Refused: the team has nothing for it.
        ToolError: the evaluator fails.
    """
    assert generation.checked.platform is not None
    tenant = tenant_of(generation.checked.platform, team, cluster)
    assert tenant is not None
    proposal = find(asked, tenant)
    body = render_sample(proposal.sample)
    (verdict,) = fit_jobs(generation, cluster, team, Jobs((body,), 0), None)
    comments = [*_beginning(cluster, team, verdict), *proposal.reasons]
    return Made(emit(body, "\n".join(comments)).decode(), verdict)


def _beginning(cluster: str, team: str, verdict: Verdict) -> Iterator[str]:
    """Yield what the job is for, what was not judged or is bound to fail, and how to submit it."""
    extent = " as far as judged" if verdict.standing is Standing.IN_PART else ""
    yield f"A job of team {team} on {cluster}, which `trainyard fit` admits{extent}."
    for check in verdict.unjudged:
        yield f"not judged: {check.link}: {check.message}"
    for check in verdict.checks:
        if check.link is Link.COMMAND:
            yield f"{check.link}: {check.message}"
    yield "Submit it with: kubectl create -f FILE"
