"""``trainyard rehearse``."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from types import FrameType

import click

from trainyard.cli import document, findings
from trainyard.cli.console import notify
from trainyard.cli.exits import Exit, NoInput
from trainyard.cli.formats import Output, deliver
from trainyard.cli.options import (
    cluster_option,
    color_option,
    complete_team,
    components_root,
    format_option,
    names_in,
    need_apart,
    need_clusters,
    need_name,
    need_profiles,
    output_option,
    places,
    profiles_option,
    today,
)
from trainyard.cli.progress import working
from trainyard.diagnostics import has_errors
from trainyard.tree.hold import editing
from trainyard_rehearsal.control_plane.components import KIND, PROCESSES
from trainyard_rehearsal.control_plane.kind import need_engine
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.evidence import proven, write_evidence
from trainyard_rehearsal.outcome import Outcome
from trainyard_rehearsal.rehearsal import build_programs, rehearse
from trainyard_rehearsal.tasks import Origin, Rehearsal, Request
from trainyard_rehearsal.upgrade import NoUpgrade, rehearse_upgrade, releases_before


@click.command("rehearse")
@profiles_option
@output_option
@cluster_option
@click.option(
    "--team",
    default="",
    metavar="NAME",
    shell_complete=complete_team,
    help="Only this team's jobs.",
)
@click.option(
    "--all", "every", is_flag=True, help="Try each team, not only a sample of those of one shape."
)
@click.option(
    "--build",
    "builds",
    is_flag=True,
    help="Build the control plane's programs; needed once, with Go.",
)
@click.option(
    "--on",
    type=click.Choice([PROCESSES, KIND]),
    default=PROCESSES,
    show_default=True,
    help="Form of the control plane; kind needs Docker.",
)
@click.option(
    "--keep", is_flag=True, help="Leave it running until Ctrl-C, and print its kubeconfig."
)
@click.option(
    "--upgrade-from",
    "upgraded",
    default="",
    metavar="REF",
    help="Try the upgrade from the release of this commit instead, step by step.",
)
@format_option("json")
@color_option
def command(  # noqa: PLR0917 - click passes options by name
    profiles: Path,
    output: Path,
    clusters: tuple[str, ...],
    team: str,
    every: bool,
    builds: bool,
    on: str,
    keep: bool,
    upgraded: str,
    formats: tuple[Output, ...],
    color: str,
) -> int:
    """Try the committed tree out on a real control plane.

    Real etcd, Kubernetes, Kueue, JobSet, Trainer and Argo CD run as processes of this machine, with
    a fake node for each node of the profiles; no kubelet, no NIC, no container. Linux only. With
    `--on kind` etcd and Kubernetes run in a container of kind instead.
    A release of the repository runs in its own versions, and its file says so if all holds.

    With `--upgrade-from` the former tree of each cluster whose release differs runs on its former
    controllers with jobs, and then each step of the plan of `trainyard upgrade` is done.
    """
    need_profiles(profiles, clusters)
    need_apart(profiles, output)
    _need_processes(on, alone=bool(upgraded), keep=keep)
    if team:
        need_name("team", team, names_in(profiles / "teams"))
    # A control plane must not outlive this process: SIGTERM ends it as Ctrl-C does.
    signal.signal(signal.SIGTERM, _terminate)
    source = Origin(profiles, output, components_root(profiles, output), today())
    request = Request(source, clusters, team, on, every, upgraded)
    if builds:
        built = build_programs(request, notify, releases_before(request))
        wrong = has_errors(built.diagnostics)
        return _report(built, profiles, output, formats, color) if wrong else Exit.FINE
    rehearsal = _rehearsed(request, keep=keep)
    code = _report(rehearsal, profiles, output, formats, color)
    _state_what_held(request, rehearsal)
    return code


def _need_processes(on: str, *, alone: bool, keep: bool) -> None:
    """Refuse a control plane that can't be had.

    Raises:
        click.UsageError: an upgrade exchanges processes, and they end with it.
        ToolError: there is no engine for kind.
    """
    if alone and (keep or on == KIND):
        raise click.UsageError("`--upgrade-from` exchanges processes: leave out --keep and --on")
    if on == KIND:
        need_engine()


def _rehearsed(request: Request, *, keep: bool) -> Rehearsal:
    """Rehearse a tree, or its upgrade.

    Raises:
        NoInput: there is no upgrade.
    """
    if keep:
        # A shell starts a background job with SIGINT ignored, and Python leaves it ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        return rehearse(request, notify, _wait)
    with working("rehearsing", "control planes") as line:
        if not request.upgraded:
            return rehearse(request, line.say, None, line.step)
        try:
            return rehearse_upgrade(request, line.say, line.step)
        except NoUpgrade as nothing:
            raise NoInput(str(nothing)) from nothing


class _Terminated(KeyboardInterrupt):
    """SIGTERM, which ends all; Ctrl-C may end a wait only."""


def _terminate(_: int, __: FrameType | None) -> None:
    raise _Terminated


def _wait(lab: Lab) -> None:
    notify(f"export KUBECONFIG={lab.kubeconfig}")
    notify(f"running until Ctrl-C or `kill -INT {os.getpid()}`; Argo CD's part follows then")
    try:
        threading.Event().wait()
    except _Terminated:
        raise
    except KeyboardInterrupt:
        notify("ending")


def _report(
    rehearsal: Rehearsal, profiles: Path, output: Path, formats: tuple[Output, ...], color: str
) -> int:
    need_clusters(rehearsal.generation, profiles, fine=not has_errors(rehearsal.diagnostics))
    read = rehearsal.generation.checked.profiles
    found = findings.Findings(rehearsal.diagnostics, places(read, profiles, output))
    deliver(
        formats,
        color,
        lambda colour: _text(found, rehearsal, colour=colour),
        {"json": lambda: document.report("rehearse", found, outcomes=_outcomes(rehearsal))},
    )
    return Exit.FINE if rehearsal.fine else Exit.FINDINGS


def _state_what_held(request: Request, rehearsal: Rehearsal) -> None:
    """Write into each release of the repository that held that it was rehearsed, with all teams.

    Raises:
        TreeError: it changed during the rehearsal, or can't be written.
    """
    if request.team or request.upgraded:
        return
    for release in proven(rehearsal):
        with editing(request.source.root, notify):
            write_evidence(request.source, release)
        notify(
            f"wrote `tested: rehearsed` into release {release.name}, and its new digest. Next: "
            "`trainyard generate`."
        )


def _text(found: findings.Findings, rehearsal: Rehearsal, *, colour: bool) -> str:
    lines = [findings.text(found, colour=colour)] if found.diagnostics else []
    for cluster, outcomes in rehearsal.outcomes.items():
        lines.append(f"{cluster}:")
        for outcome in outcomes:
            lines += _outcome(outcome, found)
    return "\n".join(lines)


def _outcome(outcome: Outcome, found: findings.Findings) -> list[str]:
    lines = [f"  {outcome.promise:<32} {outcome.held}/{outcome.tried}  {outcome.remark}".rstrip()]
    for failure in outcome.failures:
        lines += [f"    {failure.what}: {failure.words}", f"      {found.places.find(failure.at)}"]
        lines += [f"      logged by {failure.logged}"] if failure.logged else []
    return lines


def _outcomes(rehearsal: Rehearsal) -> dict[str, list[dict[str, object]]]:
    return {
        cluster: [_document(each) for each in outcomes]
        for cluster, outcomes in rehearsal.outcomes.items()
    }


def _document(outcome: Outcome) -> dict[str, object]:
    failures = [
        {"what": each.what, "words": each.words, "logged": each.logged, "file": each.at.file}
        for each in outcome.failures
    ]
    return {**document.plain(outcome), "failures": failures, "fine": outcome.fine}
