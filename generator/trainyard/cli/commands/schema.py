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
    """Print a JSON Schema: of a KIND of profile, or of the JSON that the command KIND prints.

    Editors complete and explain the fields of profiles by it. KIND `findings` is the JSON of all
    commands that print findings and have no schema of their own. KIND `cost` is the JSON of
    `trainyard capacity --cost`.
    """
    schema = document_schema(kind) if kind in document_kinds() else profile_schema(kind)
    result(json.dumps(schema, indent=2))
    return Exit.FINE
