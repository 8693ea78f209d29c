"""``trainyard codeowners``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from trainyard.cli import findings
from trainyard.cli.exits import Exit, NoInput
from trainyard.cli.formats import Output, deliver
from trainyard.cli.forms import FORMS, forms_of
from trainyard.cli.options import (
    color_option,
    format_option,
    need_profiles,
    places,
    profiles_option,
    today,
)
from trainyard.diagnostics import has_errors
from trainyard.generation.generate import check
from trainyard.workflows.codeowners import Owned, check_owned, owned, usual_file, write_owned


@click.command("codeowners")
@profiles_option
@click.option(
    "-o",
    "--output",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The file to write. Default: .github/CODEOWNERS in the Git repository of the profiles.",
)
@click.option(
    "--check",
    "check_only",
    is_flag=True,
    help="Write nothing; fail when the file is not what would be written.",
)
@format_option(*FORMS)
@color_option
def command(
    *,
    profiles: Path,
    file: Path | None,
    check_only: bool,
    formats: tuple[Output, ...],
    color: str,
) -> int:
    """Write CODEOWNERS from the owners that the profiles state.

    Only the block between two marks is written: the lines around it stay as they are. Its order
    matters, since the last line that matches a file decides.
    """
    need_profiles(profiles)
    checked = check(profiles, today())
    where = places(checked.profiles, profiles)
    diagnostics, it = checked.diagnostics, None
    if checked.platform is not None and not has_errors(diagnostics):
        it = owned(checked.platform, profiles, file or usual_file(profiles))
        _need_owners(it, check_only=check_only)
        diagnostics = tuple(check_owned(it, fresh=check_only))
        where = replace(where, sources={**where.sources, it.shown: it.source(fresh=check_only)})
    fine = not has_errors(diagnostics)
    if it is not None and not check_only:
        write_owned(it)
    found = findings.Findings(diagnostics, where)
    deliver(
        formats,
        color,
        lambda colour: _text(found, it, written=not check_only, colour=colour),
        forms_of("codeowners", found, codeowners=_result(it, written=not check_only)),
    )
    return Exit.FINE if fine else Exit.FINDINGS


def _need_owners(it: Owned, *, check_only: bool) -> None:
    """Refuse to write nothing: it would look like a protection.

    Raises:
        NoInput: no profile states owners, and the file has no block to take away.
    """
    if not it.owners and it.before == it.after and not check_only:
        raise NoInput(
            'no profile states owners; add for example `owners: {platform: ["@org/admins"]}` to '
            "trainyard.yaml"
        )


def _result(it: Owned | None, *, written: bool) -> dict[str, Any] | None:
    if it is None:
        return None
    return {"file": it.shown, "written": written and it.before != it.after}


def _text(found: findings.Findings, it: Owned | None, *, written: bool, colour: bool) -> str:
    lines = [findings.text(found, colour=colour)] if found.diagnostics else []
    if it is not None and (written or it.before == it.after):
        lines.append(_state(it))
    return "\n".join(lines)


def _state(it: Owned) -> str:
    if it.before != it.after:
        return f"wrote {it.shown}"
    if it.owners:
        return f"{it.shown} is up to date"
    return f"no profile states owners, and {it.shown} has none of them"
