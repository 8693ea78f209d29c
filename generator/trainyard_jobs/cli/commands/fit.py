"""``trainyard fit``."""

from __future__ import annotations

from pathlib import Path

import click

from trainyard.cli import document as documents
from trainyard.cli import findings
from trainyard.cli.console import notify
from trainyard.cli.exits import Exit, NoInput
from trainyard.cli.formats import Output, deliver
from trainyard.cli.options import format_option, output_option, places, profiles_option
from trainyard.cli.team import generate_for_team
from trainyard.diagnostics import has_errors
from trainyard.generation.generate import Generation
from trainyard.handed_in import shown
from trainyard_jobs.admission.evaluator import build
from trainyard_jobs.cli.fit.document import document
from trainyard_jobs.cli.fit.text import text
from trainyard_jobs.cli.options import cluster_option, team_option
from trainyard_jobs.fit.verdict import Standing, Verdict
from trainyard_jobs.workflows.fit import Jobs, fit_jobs, read_jobs, read_snapshot

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_JOB = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)


@click.command("fit")
@click.argument("job", type=_JOB, required=False, metavar="[JOB.yaml]")
@profiles_option
@output_option
@team_option("Team that submits the job. Default: by its namespace.")
@cluster_option("job")
@click.option(
    "--usage",
    type=_FILE,
    metavar="FILE",
    help="What is in use: "
    "`kubectl get clusterqueues,workloads,resourcequotas,persistentvolumeclaims -A -o json`.",
)
@click.option(
    "--build",
    "builds",
    is_flag=True,
    help="Build the evaluator of admission policies; needed once, with Go.",
)
@format_option("json")
def command(  # noqa: PLR0917 - click passes options by name
    job: Path | None,
    profiles: Path,
    output: Path,
    team: str | None,
    cluster: str | None,
    usage: Path | None,
    builds: bool,
    formats: tuple[Output, ...],
) -> int:
    """Tell whether a TrainJob would start: admitted, waits, or never, and why.

    Judges each TrainJob of a file by itself, by the objects that the profiles are rendered to. The
    file `-` is standard input.

    Without `--usage` it is assumed that nothing else runs on the cluster. Without the evaluator the
    admission policies and Pod Security are not judged.
    """
    if builds:
        notify(f"the evaluator is {build()}")
    if job is None:
        if not builds:
            raise click.UsageError("name the file of a TrainJob")
        return Exit.FINE
    jobs = read_jobs(job)
    if not jobs.bodies:
        none = f"{shown(job)} has no TrainJob of trainer.kubeflow.org/v1alpha1"
        raise NoInput("; ".join([none, *jobs.doors]))
    snapshot = read_snapshot(usage) if usage else None
    made, home, owner = generate_for_team(profiles, output, team, cluster, jobs.namespaces)
    if has_errors(made.diagnostics):
        return _not_generated(made, profiles, formats)
    verdicts = fit_jobs(made, home, owner, jobs, snapshot)
    return _report(made, profiles, jobs, verdicts, formats)


def _not_generated(made: Generation, profiles: Path, formats: tuple[Output, ...]) -> int:
    found = findings.Findings(made.diagnostics, places(made.checked.profiles, profiles))
    deliver(
        formats,
        "never",
        lambda _: findings.text(found, colour=False),
        {"json": lambda: documents.report("findings", found)},
    )
    return Exit.FINDINGS


def _report(
    made: Generation,
    profiles: Path,
    jobs: Jobs,
    verdicts: tuple[Verdict, ...],
    formats: tuple[Output, ...],
) -> int:
    where = places(made.checked.profiles, profiles)
    deliver(
        formats,
        "never",
        lambda _: text(verdicts, where, jobs.others),
        {"json": lambda: documents.envelope("fit", {"jobs": document(verdicts, where)})},
    )
    standings = {verdict.standing for verdict in verdicts}
    if Standing.NEVER in standings:
        return Exit.FINDINGS
    return Exit.IO if {Standing.UNJUDGED, Standing.IN_PART} & standings else Exit.FINE
