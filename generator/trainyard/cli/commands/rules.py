"""``trainyard rules``."""

from __future__ import annotations

import click

from trainyard.cli import document
from trainyard.cli.exits import Exit
from trainyard.cli.formats import Output, deliver
from trainyard.cli.options import format_option
from trainyard.rulebook import all_rules


@click.command("rules")
@format_option("json")
def command(formats: tuple[Output, ...]) -> int:
    """List the rules: id, severity and summary. `trainyard explain RULE` shows the rest."""
    rules = all_rules()
    width = max(len(rule.id) for rule in rules)
    deliver(
        formats,
        "never",
        lambda _: "\n".join(
            f"{rule.id:<{width}}  {rule.severity:<7}  {rule.summary}" for rule in rules
        ),
        {"json": lambda: document.envelope("rules", {"rules": rules})},
    )
    return Exit.FINE
