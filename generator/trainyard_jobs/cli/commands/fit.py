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
from trainyard.cli.team import generate_for_cluster, generate_for_team
from trainyard.diagnostics import has_errors
from trainyard.generation.generate import Generation
from trainyard.handed_in import shown
from trainyard_jobs.admission.evaluator import build
from trainyard_jobs.cli.fit import replay as replays
from trainyard_jobs.cli.fit.document import document
from trainyard_jobs.cli.fit.text import text
from trainyard_jobs.cli.options import cluster_option, team_option
from trainyard_jobs.fit.verdict import Standing, Verdict
from trainyard_jobs.workflows.fit import Jobs, fit_jobs, read_jobs, read_snapshot
from trainyard_jobs.workflows.replay import read_known, read_objects, replay

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
@click.option(
    "--replay",
    "dumps",
    type=click.Path(exists=True, path_type=Path, allow_dash=True),
    multiple=True,
    metavar="DUMP",
    help="Instead of a job: who of a running cluster would be refused at the next start, once "
    "admission denies. A file of `kubectl get -o json` or yaml, or a folder of them; may be given "
    "several times.",
)
@click.option(
    "--known",
    type=_FILE,
    metavar="FILE",
    help="Refusals of `--replay` that somebody takes care of: a line `NAMESPACE KIND/NAME POLICY` "
    "for each.",
)
@format_option("json")
def command(
    *,
    job: Path | None,
    profiles: Path,
    output: Path,
    team: str | None,
    cluster: str | None,
    usage: Path | None,
    builds: bool,
    dumps: tuple[Path, ...],
    known: Path | None,
    formats: tuple[Output, ...],
) -> int:
    """Tell whether a TrainJob would start: admitted, waits, or never, and why.

    Judges each TrainJob of a file by itself, by the objects that the profiles are rendered to. The
    file `-` is standard input.

    Without `--usage` it is assumed that nothing else runs on the cluster. Without the evaluator the
    admission policies and Pod Security are not judged.

    With `--replay` it judges the pods, templates of pods, TrainJobs, claims, quotas and
    RoleBindings of a cluster, each as its controller would create it, as if all policies denied.
    It lists what else the dump has. Ends with 1 where one is refused that is not known.
    """
    if builds:
        notify(f"the evaluator is {build()}")
    if dumps:
        if any((job, team, usage)):
            raise click.UsageError("`--replay` takes no job, no `--team` and no `--usage`")
        return _replay((profiles, output), cluster, dumps, known, formats)
    if known:
        raise click.UsageError("`--known` is for `--replay`")
    if job is None and not builds:
        raise click.UsageError("name the file of a TrainJob")
    if job is None:
        return Exit.FINE
    return _fit((profiles, output), (team, cluster), job, usage, formats)


def _replay(
    folders: tuple[Path, Path],
    cluster: str | None,
    dumps: tuple[Path, ...],
    known: Path | None,
    formats: tuple[Output, ...],
) -> int:
    if not cluster:
        raise click.UsageError("`--replay` needs a `--cluster`, whose policies judge")
    dump, keys = read_objects(dumps), read_known(known) if known else []
    made = generate_for_cluster(*folders, cluster)
    if has_errors(made.diagnostics):
        return _not_generated(made, folders[0], formats)
    replayed = replay(made, cluster, dump, keys)
    deliver(
        formats,
        "never",
        lambda _: replays.text(cluster, replayed),
        {"json": lambda: documents.envelope("replay", replays.document(cluster, replayed))},
    )
    return Exit.FINDINGS if replayed.new else Exit.FINE


def _fit(
    folders: tuple[Path, Path],
    whose: tuple[str | None, str | None],
    job: Path,
    usage: Path | None,
    formats: tuple[Output, ...],
) -> int:
    profiles = folders[0]
    jobs = read_jobs(job)
    if not jobs.bodies:
        none = f"{shown(job)} has no TrainJob of trainer.kubeflow.org/v1alpha1"
        raise NoInput("; ".join([none, *jobs.doors]))
    snapshot = read_snapshot(usage) if usage else None
    made, home, owner = generate_for_team(*folders, *whose, jobs.namespaces)
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
