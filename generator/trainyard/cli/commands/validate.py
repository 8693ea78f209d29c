"""``trainyard validate``."""

from __future__ import annotations

from pathlib import Path

import click

from trainyard.cli import findings
from trainyard.cli.exits import Exit
from trainyard.cli.formats import Output, deliver
from trainyard.cli.forms import FORMS, forms_of
from trainyard.cli.options import (
    color_option,
    components_root,
    format_option,
    need_profiles,
    places,
    profiles_option,
    today_option,
)
from trainyard.diagnostics import has_errors
from trainyard.generation.generate import Run, check, check_objects
from trainyard.proofs import of_this_machine
from trainyard.tree.place import check_tree_path


@click.command("validate")
@profiles_option
@format_option(*FORMS)
@color_option
@today_option
def command(profiles: Path, formats: tuple[Output, ...], color: str, day: str) -> int:
    """Check the profiles: shape, names, meaning together, and each object that they make.

    Changes no file of the repository, and needs no other program.
    """
    need_profiles(profiles)
    tree = Path("overlays")
    run = Run(proofs=of_this_machine())
    checked = check(profiles, day, proofs=run.proofs)
    generation = check_objects(checked, components_root(profiles, tree), run)
    diagnostics = (
        *generation.diagnostics,
        *check_tree_path(profiles, tree, generation.checked.platform),
    )
    shown = places(generation.checked.profiles, profiles)
    found = findings.Findings(diagnostics, shown, generation.checked.waived)
    deliver(
        formats,
        color,
        lambda colour: findings.text(found, colour=colour),
        forms_of("validate", found),
    )
    return Exit.FINDINGS if has_errors(diagnostics) else Exit.FINE
