"""``trainyard fmt``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path

import click

from trainyard.cli import findings
from trainyard.cli.console import notify, printable
from trainyard.cli.exits import Exit
from trainyard.cli.formats import Output, deliver
from trainyard.cli.forms import FORMS, forms_of
from trainyard.cli.options import color_option, format_option, need_profiles, profiles_option
from trainyard.cli.places import Places, shown_folder
from trainyard.cli.progress import working
from trainyard.model.quantity import counted
from trainyard.tree.hold import editing
from trainyard.workflows.fmt import Styles, check_style, write_style


@click.command("fmt")
@click.argument(
    "files", metavar="[FILES]...", nargs=-1, type=click.Path(exists=True, path_type=Path)
)
@profiles_option
@click.option("--check", is_flag=True, help="Write nothing; fail when a profile lacks the style.")
@format_option(*FORMS)
@color_option
def command(
    files: tuple[Path, ...],
    profiles: Path,
    *,
    check: bool,
    formats: tuple[Output, ...],
    color: str,
) -> int:
    """Write the profiles, or only FILES, in one style; each comment and the order of keys stay.

    A file is left alone when it is not a valid profile, or when a comment would be lost. Objects of
    hand-written components are always left alone.
    """
    need_profiles(profiles)
    wanted = frozenset(_logical(file, profiles) for file in files)
    with working("formatting") as line, nullcontext() if check else editing(profiles, line.say):
        styles = check_style(profiles, wanted)
        if not check:
            write_style(profiles, styles)
    _notify_others(wanted, styles)
    places = Places(styles.sources, {"profiles": shown_folder(profiles)})
    found = findings.Findings(styles.diagnostics, places)
    every = findings.Findings((*styles.diagnostics, *(styles.unformatted if check else ())), places)
    deliver(
        formats,
        color,
        lambda colour: _text(found, styles, check=check, colour=colour),
        forms_of("fmt", every, profiles=_result(styles, check=check)),
    )
    return Exit.FINDINGS if every.diagnostics else Exit.FINE


def _logical(file: Path, profiles: Path) -> str:
    """Return a file's name in diagnostics.

    Raises:
        click.UsageError: it is not below the profiles.
    """
    # A link must not be followed: it is refused later by its own name.
    path = Path(os.path.relpath(file, profiles)).as_posix()
    if path == "." or path.startswith("../"):
        raise click.UsageError(f"`{file}` is not a file below the profiles (`{profiles}`)")
    return f"profiles/{path}"


def _notify_others(wanted: Iterable[str], styles: Styles) -> None:
    """Print the files that were asked for and are not profiles."""
    known = {*styles.sources, *(each.at.file for each in styles.diagnostics)}
    for file in sorted(set(wanted) - known):
        notify(f"{printable(file)} is not a profile, and is left alone")


def _result(styles: Styles, *, check: bool) -> dict[str, object]:
    return {"written": not check, "changed": sorted(styles.changed)}


def _text(found: findings.Findings, styles: Styles, *, check: bool, colour: bool) -> str:
    lines = [findings.text(found, colour=colour)] if found.diagnostics else []
    return "\n".join([*lines, *_changes(found.places, styles, check=check)])


def _changes(places: Places, styles: Styles, *, check: bool) -> Iterator[str]:
    """Yield one line a file that lacked the style, and their number."""
    for file in sorted(styles.changed):
        yield f"{'would format' if check else 'formatted'} {places.shown(file)}"
    profiles, changed = counted(len(styles.sources), "profile"), len(styles.changed)
    verb = "would be formatted" if check else "formatted"
    yield f"{profiles}, {changed} {verb}"
