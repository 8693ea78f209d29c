"""``trainyard job``."""

from __future__ import annotations

from pathlib import Path

import click

from trainyard.cli import findings
from trainyard.cli.console import notify, result
from trainyard.cli.exits import Exit
from trainyard.cli.options import output_option, places, profiles_option
from trainyard.cli.team import generate_for_team
from trainyard.diagnostics import has_errors
from trainyard.generation.generate import Generation
from trainyard.model.acceptance import TESTS
from trainyard_jobs.cli.fit.text import text
from trainyard_jobs.cli.options import cluster_option, team_option
from trainyard_jobs.convert.asked import Refused
from trainyard_jobs.convert.reasons import Asked
from trainyard_jobs.fit.verdict import Standing
from trainyard_jobs.workflows.job import Made, make_job


@click.command("job")
@click.argument("words", nargs=-1, metavar="[-- COMMAND...]")
@profiles_option
@output_option
@team_option("Team that submits the job.", required=True)
@cluster_option("job")
@click.option(
    "--test",
    default="",
    type=click.Choice(("", *TESTS)),
    metavar="NAME",
    help=f"Acceptance test in place of COMMAND: {', '.join(TESTS)}.",
)
@click.option("--namespace", default="", metavar="NAME", help="Of the team's, if several.")
@click.option(
    "--runtime",
    default="",
    metavar="NAME",
    help="Default: that of the team, or the smallest that fits.",
)
@click.option("--nodes", type=click.IntRange(1), help="Default: the fewest.")
@click.option("--gpus", type=click.IntRange(0), help="GPUs of each node, at least.")
@click.option("--queue", default="", metavar="NAME", help="Default: the team's default queue.")
@click.option("--priority", default="", metavar="NAME", help="Default: the lowest class.")
def command(  # noqa: PLR0917 - click passes options by name
    words: tuple[str, ...],
    profiles: Path,
    output: Path,
    team: str,
    cluster: str | None,
    test: str,
    namespace: str,
    runtime: str,
    nodes: int | None,
    gpus: int | None,
    queue: str,
    priority: str,
) -> int:
    """Print a TrainJob that runs COMMAND in each rank, and that `trainyard fit` admits.

    With --test it runs an acceptance test of the nodes in place of COMMAND, which ends with a table
    and, if a figure is below its threshold, with a failure.

    Comments explain each choice. COMMAND is the program of the ranks, such as `python train.py`;
    the runtime starts it with mpirun or torchrun, unless it begins with one of them. A job that
    can't be admitted is not printed.
    """
    _need_words(words, test)
    made, name, _ = generate_for_team(profiles, output, team, cluster)
    if has_errors(made.diagnostics):
        found = findings.Findings(made.diagnostics, places(made.checked.profiles, profiles))
        notify(findings.text(found, colour=False))
        return Exit.FINDINGS
    asked = Asked(words, runtime, nodes or 0, gpus, queue, namespace, priority, test)
    try:
        job = make_job(made, name, team, asked)
    except Refused as refused:
        raise click.UsageError(str(refused)) from None
    return _printed(job, made, profiles)


def _need_words(words: tuple[str, ...], test: str) -> None:
    if bool(words) == bool(test):
        raise click.UsageError("give either a COMMAND after `--`, or a `--test`")
    try:
        " ".join(words).encode()
    except UnicodeEncodeError:
        raise click.UsageError("a word of COMMAND is not UTF-8: put it into a script") from None


def _printed(job: Made, made: Generation, profiles: Path) -> int:
    if job.verdict.standing not in {Standing.ADMITTED, Standing.IN_PART}:
        notify(text([job.verdict], places(made.checked.profiles, profiles), 0))
        return Exit.FINDINGS
    result(job.text.rstrip("\n"))
    return Exit.FINE
