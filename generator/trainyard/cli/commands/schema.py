"""``trainyard schema``."""

from __future__ import annotations

import json

import click

from trainyard.cli.console import result
from trainyard.cli.exits import Exit
from trainyard.schema.profiles import profile_kinds, profile_schema


@click.command("schema")
@click.argument("kind", type=click.Choice(profile_kinds()))
def command(kind: str) -> int:
    """Print the JSON Schema of a KIND of profile; editors complete and explain fields by it."""
    result(json.dumps(profile_schema(kind), indent=2))
    return Exit.FINE
