"""``trainyard explain``."""

from __future__ import annotations

import textwrap

import click
from click.shell_completion import CompletionItem

from trainyard.cli.console import result
from trainyard.cli.exits import Exit
from trainyard.cli.options import need_name
from trainyard.rulebook import all_rules

_WIDTH = 100
_INDENT = " " * 6


def complete_rule(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the id of a rule."""
    return [
        CompletionItem(rule.id, help=rule.summary)
        for rule in all_rules()
        if rule.id.startswith(incomplete)
    ]


@click.command("explain")
@click.argument("rule", shell_complete=complete_rule)
def command(rule: str) -> int:
    """Explain RULE: its demand, the consequence on the cluster, and the fix."""
    rules = {entry.id: entry for entry in all_rules()}
    need_name("rule", rule, rules)
    known = rules[rule]
    texts = {
        "what": known.summary,
        "why": known.why,
        "fix": known.fix,
        "page": f"docs/reference/rules/{rule.partition('/')[0]}.md",
    }
    paragraphs = (_paragraph(name, text) for name, text in texts.items())
    result("\n".join([f"{known.severity}[{rule}]", *paragraphs]))
    return Exit.FINE


def _paragraph(name: str, text: str) -> str:
    head = f"{name}:".ljust(len(_INDENT))
    return textwrap.fill(
        text, _WIDTH, initial_indent=head, subsequent_indent=_INDENT, break_on_hyphens=False
    )
