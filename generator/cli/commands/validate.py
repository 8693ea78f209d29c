"""``trainyard validate``."""

from __future__ import annotations

from pathlib import Path

import click

from generator.cli import document, findings
from generator.cli.exits import Exit
from generator.cli.formats import Output, deliver
from generator.cli.options import color_option, format_option, need_profiles, places, profiles_option, today
from generator.diagnostics import has_errors
from generator.pipeline import check


@click.command("validate", short_help="Check the profiles; needs no other program.")
@profiles_option
@format_option
@color_option
def command(profiles: Path, formats: tuple[Output, ...], color: str) -> int:
    """Check the profiles: their shape, the names in them, and what they mean together.

    Writes nothing and needs no other program.
    """
    need_profiles(profiles)
    checked = check(profiles, today())
    found = findings.Findings(checked.diagnostics, places(checked.profiles, profiles))
    deliver(
        formats,
        color,
        lambda colour: findings.text(found, colour=colour),
        lambda: document.report("validate", found),
    )
    return Exit.FINDINGS if has_errors(checked.diagnostics) else Exit.FINE
