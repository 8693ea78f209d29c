"""``trainyard show``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from trainyard.cli import document, findings
from trainyard.cli.console import printable
from trainyard.cli.effective import Section, Value, effective
from trainyard.cli.exits import Exit
from trainyard.cli.formats import Output, deliver
from trainyard.cli.options import (
    complete_team,
    format_option,
    names_in,
    need_name,
    need_profiles,
    places,
    profiles_option,
)
from trainyard.cli.places import Places
from trainyard.generation.generate import check


@click.command("show")
@click.argument("team", shell_complete=complete_team)
@profiles_option
@format_option("json")
def command(team: str, profiles: Path, formats: tuple[Output, ...]) -> int:
    """Show the effective values of TEAM, each with its profile line, default or source value."""
    need_profiles(profiles)
    need_name("team", team, names_in(profiles / "teams"))
    checked = check(profiles)
    where = places(checked.profiles, profiles)
    if checked.platform is None:
        found = findings.Findings(checked.diagnostics, where)
        deliver(
            formats,
            "never",
            lambda _: findings.text(found, colour=False),
            {"json": lambda: document.report("findings", found)},
        )
        return Exit.FINDINGS
    sections = effective(checked.platform, team)
    deliver(
        formats,
        "never",
        lambda _: "\n\n".join(_text(section, where) for section in sections),
        {
            "json": lambda: document.envelope(
                "show", {"team": team, "sections": [_document(each, where) for each in sections]}
            )
        },
    )
    return Exit.FINE


def _origin(value: Value, where: Places) -> tuple[str, str, int]:
    """Return the kind of a value's origin, and the file and line if it is in a profile."""
    if value.at is None:
        return "derived", "", 0
    source = where.sources[value.at.file]
    if value.at.path not in source.marks:
        return "default", "", 0
    place = where.find(value.at)
    return "profile", place.file, source.marks[value.at.path].line


def _text(section: Section, where: Places) -> str:
    rows = []
    for value in section.values:
        kind, file, line = _origin(value, where)
        rows.append((value.name, printable(value.value), f"{file}:{line}" if file else kind))
    names = max(len(name) for name, _, _ in rows)
    values = max(len(value) for _, value, _ in rows)
    lines = (f"  {name:<{names}}  {value:<{values}}  {origin}" for name, value, origin in rows)
    return "\n".join([section.title, *lines])


def _document(section: Section, where: Places) -> dict[str, Any]:
    values = []
    for value in section.values:
        kind, file, line = _origin(value, where)
        values.append(
            {
                "name": value.name,
                "value": value.value,
                "origin": kind,
                "file": file or None,
                "line": line or None,
            }
        )
    return {"title": section.title, "values": values}
