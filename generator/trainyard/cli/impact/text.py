"""The impact of a change as text."""

from __future__ import annotations

from collections.abc import Iterator

import click

from trainyard.cli import findings
from trainyard.cli.console import printable
from trainyard.cli.impact.headline import compared, headline, totals, upgrade_lines
from trainyard.cli.impact.sections import cluster_line, sections
from trainyard.impact.model import Impact
from trainyard.workflows.diff import Diff

_COLOURS = {"+": "green", "-": "red", "~": "yellow", "!": "red"}


def text(diff: Diff, found: findings.Findings, *, fields: bool, colour: bool) -> str:
    """Return the impact, the worst first, then cluster by cluster; then the findings.

    Args:
        diff: the change.
        found: its findings.
        fields: each field that differs instead of each kind of edit.
        colour: for the marks at the begin of lines, and the findings.
    """
    lines = _lines(diff, diff.impact, fields=fields) if diff.impact else ()
    parts = ["\n".join(_paint(printable(line), colour) for line in lines)] if lines else []
    parts += [findings.text(found, colour=colour)] if found.diagnostics else []
    return "\n\n".join(parts)


def _lines(diff: Diff, impact: Impact, *, fields: bool) -> Iterator[str]:
    yield headline(impact)
    yield totals(impact)
    for cluster in impact.clusters:
        yield ""
        yield cluster_line(cluster)
        for section in sections(cluster, fields=fields):
            yield f"  {section.title}"
            yield from (f"    {line}" for line in section.lines)
    yield ""
    if impact.upgrade:
        yield from upgrade_lines(impact.upgrade)
    yield from compared(diff)


def _paint(line: str, colour: bool) -> str:
    mark = line.strip()[:2]
    wanted = colour and mark[1:] == " " and mark[0] in _COLOURS
    return click.style(line, fg=_COLOURS[mark[0]]) if wanted else line
