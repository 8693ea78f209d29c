"""``trainyard release``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import click

from trainyard.change.releases import compare
from trainyard.cli import document as documents
from trainyard.cli import findings
from trainyard.cli.console import notify, result
from trainyard.cli.exits import Exit
from trainyard.cli.formats import Output, deliver
from trainyard.cli.options import (
    components_root,
    format_option,
    need_apart,
    need_profiles,
    output_option,
    places,
    profiles_option,
    today,
)
from trainyard.cli.places import shown_folder
from trainyard.cli.progress import working
from trainyard.cli.release.document import comparison_document, release_document
from trainyard.cli.release.text import comparison_text, release_text
from trainyard.generation.generate import Target
from trainyard.model.quantity import counted
from trainyard.model.release import Release
from trainyard.profiles.read import load, shipped_only
from trainyard.schema.releases import check_releases
from trainyard.tree.hold import editing
from trainyard.workflows.known_releases import release_of
from trainyard.workflows.make_release import ReleaseRequest
from trainyard.workflows.new_release import NewRelease, new_release
from trainyard.workflows.release_files import Made

_VERSION = re.compile(r"(0|[1-9][0-9]{0,5})(\.(0|[1-9][0-9]{0,5})){1,3}")


class _Versions(click.ParamType[tuple[str, str]]):
    """A component and its version."""

    name = "versions"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Return both."""
        component, separator, version = str(value).partition("=")
        if not separator or not _VERSION.fullmatch(version):
            self.fail(f"{value!r} is not COMPONENT=VERSION, e.g. kueue=0.18.3", param, ctx)
        return component, version


@click.group("release")
def command() -> None:
    """Make a release of your own, and show what releases have."""


@command.command("new")
@click.argument("name")
@click.option(
    "--from",
    "base",
    required=True,
    metavar="RELEASE",
    help="Release that it extends: the nearest one. All that is not stated is as in it.",
)
@click.option(
    "--set",
    "versions",
    type=_Versions(),
    multiple=True,
    metavar="COMPONENT=VERSION",
    help="Version that differs; may be given several times.",
)
@click.option(
    "--facts",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="CRDs of a cluster, from `kubectl get crd -o json`; - is standard input. Schemas come "
    "from them, and Go is not needed.",
)
@profiles_option
@output_option
def new(
    *,
    name: str,
    base: str,
    versions: tuple[tuple[str, str], ...],
    facts: Path | None,
    profiles: Path,
    output: Path,
) -> int:
    """Write release NAME into profiles/releases/, and its digest into profiles/trainyard.yaml.

    Schemas come from the CRDs of a cluster, or from the Go modules of the versions. Features follow
    from schemas and versions. The clusters on the release that it extends are tried with it.

    Writes nothing if the versions are known to fail together, or if the CRDs contradict them.
    """
    need_profiles(profiles)
    need_apart(profiles, output)
    if not versions and facts is None:
        raise click.UsageError("name what differs: versions by `--set`, or CRDs by `--facts`")
    request = ReleaseRequest(name, base, dict(versions), facts, today())
    place = Target(profiles, output, components_root(profiles, output))
    try:
        with working("checking") as line, editing(profiles, line.say):
            done = new_release(place, request)
    except ValueError as problem:
        raise click.UsageError(str(problem)) from problem
    found = findings.Findings(done.diagnostics, places(done.profiles, profiles, output))
    if done.made is None:
        result(findings.text(found, colour=False))
        notify("Nothing was written.")
        return Exit.FINDINGS
    result("\n".join(_lines(done, done.made, profiles)))
    if done.diagnostics:
        result("")
        result(findings.text(found, colour=False))
    notify(f"Then name it as `release: {name}` in the profile of a cluster, and commit all of it.")
    return Exit.FINE


@command.command("show")
@click.argument("name")
@profiles_option
@format_option("json")
def show(name: str, profiles: Path, formats: tuple[Output, ...]) -> int:
    """Show what release NAME pins: versions, features, kinds, and what is known to fail."""
    (release,) = _releases(profiles, name)
    others = {"json": lambda: documents.envelope("release", release_document(release))}
    deliver(formats, "never", lambda _: release_text(release), others)
    return Exit.FINE


@command.command("diff")
@click.argument("before")
@click.argument("after")
@profiles_option
@format_option("json")
def diff(before: str, after: str, profiles: Path, formats: tuple[Output, ...]) -> int:
    """Show what differs between two releases.

    Versions, features, kinds and their fields, and the components that can't be upgraded alone.
    """
    old, new = _releases(profiles, before, after)
    found = compare(old, new)
    others = {
        "json": lambda: documents.envelope("releasediff", comparison_document(old, new, found))
    }
    deliver(formats, "never", lambda _: comparison_text(old, new, found), others)
    return Exit.FINE


def _releases(profiles: Path, *names: str) -> list[Release]:
    """Return releases, those of a repository too where there is one.

    Raises:
        click.UsageError: one does not exist, or can't be used.
    """
    read, problems = load(profiles) if profiles.is_dir() else (shipped_only(), ())
    usable = read.without({each.at.file for each in (*problems, *check_releases(read))})
    try:
        return [release_of(usable, name) for name in names]
    except ValueError as problem:
        named = ", ".join(sorted(set(names) & read.own_releases.keys()))
        hint = f"; `trainyard validate` says what is wrong with {named}" if named else ""
        raise click.UsageError(f"{problem}{hint}") from problem


def _lines(done: NewRelease, made: Made, profiles: Path) -> Iterable[str]:
    """Yield the lines that say what a new release has."""
    yield f"wrote {shown_folder(profiles / 'releases' / made.name)}"
    yield f"wrote {shown_folder(profiles / 'trainyard.yaml')}"
    yield f"release {made.name} is {made.base}, but for:"
    for key, value in made.stated.items():
        yield f"  {key}: {_value(value)}"
    yield f"  schemas of {counted(len(made.changed), 'kind')}{_named(made.changed)}"
    if made.inherited:
        kinds = counted(len(made.inherited), "kind")
        yield f"note: schemas of {kinds} are those of {made.base} and were not looked up"
    if made.missing:
        yield f"note: the cluster has no {', '.join(made.missing)}: schemas as in {made.base}"
    yield from (f"note: {remark}" for remark in made.remarks)
    if not done.tried:
        yield f"tested: none, since no cluster here has release {made.base}"
    elif made.tested == "none":
        yield f"tested: none, since {', '.join(done.tried)} would have errors with it, see below"
    else:
        yield f"tested: schemas, with the tree of {', '.join(done.tried)}"


def _value(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {each}" for key, each in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _named(paths: tuple[str, ...]) -> str:
    names = [path.rpartition("/")[2].removesuffix(".json") for path in paths]
    return f": {', '.join(names)}" if names else ""
