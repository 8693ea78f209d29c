"""``trainyard schema``."""

from __future__ import annotations

import json

import click

from trainyard.cli.console import result
from trainyard.cli.exits import Exit
from trainyard.schema.profiles import profile_kinds, profile_schema
from trainyard.schema.published import document_kinds, document_schema


@click.command("schema")
@click.argument("kind", type=click.Choice([*profile_kinds(), *document_kinds()]))
def command(kind: str) -> int:
    """Print a JSON Schema: of a KIND of profile, or of what commands print as JSON.

    Editors complete and explain the fields of profiles by it. The key `format` of a command's JSON
    is the KIND of its schema: `findings` if the profiles leave the command nothing else to print.
    """
    schema = document_schema(kind) if kind in document_kinds() else profile_schema(kind)
    result(json.dumps(schema, indent=2))
    return Exit.FINE
