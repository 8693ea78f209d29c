"""The impact of a change as text."""

from __future__ import annotations

from collections.abc import Iterator

import click

from trainyard.change.diff import Diff
from trainyard.change.impact.model import ClusterImpact
from trainyard.cli import findings
from trainyard.cli.console import printable
from trainyard.cli.impact.approval import approval
from trainyard.cli.impact.headline import compared, totals, upgrade_lines, verdict
from trainyard.cli.impact.profiles import profiles
from trainyard.cli.impact.releases import release_section
from trainyard.cli.impact.sections import Section, cluster_line, sections, units_section

_COLOURS = {"+": "green", "-": "red", "~": "yellow", "!": "red"}


def text(diff: Diff, found: findings.Findings, *, fields: bool, colour: bool) -> str:
    """Return the impact, the worst first, then cluster by cluster; then the findings.

    Args:
        diff: the change.
        found: its findings.
        fields: each field that differs instead of each kind of edit.
        colour: for the marks at the begin of lines, and the findings.
    """
    lines = map(printable, _lines(diff, fields=fields))
    parts = ["\n".join(paint(line, colour=colour) for line in lines)]
    parts += [findings.text(found, colour=colour)] if found.diagnostics else []
    return "\n\n".join(parts)


def _lines(diff: Diff, *, fields: bool) -> Iterator[str]:
    yield from verdict(diff)
    if diff.impact:
        yield totals(diff.impact)
    for release in map(release_section, diff.releases):
        yield ""
        yield from section_lines(release)
    for cluster in diff.impact.clusters if diff.impact else ():
        yield from _cluster(diff, cluster, fields=fields)
    for part in filter(None, (profiles(diff.approvals), approval(diff))):
        yield ""
        yield from section_lines(part)
    yield ""
    if diff.impact and diff.impact.upgrade:
        yield from upgrade_lines(diff.impact.upgrade, fields=fields)
    yield from compared(diff)


def _cluster(diff: Diff, cluster: ClusterImpact, *, fields: bool) -> Iterator[str]:
    yield from ("", cluster_line(cluster))
    parts = [*sections(cluster, fields=fields)]
    if cluster.name in {release.cluster for release in diff.releases}:
        parts = [*units_section(cluster), *parts]
    for part in parts:
        yield from map("  {}".format, section_lines(part))


def section_lines(section: Section) -> Iterator[str]:
    """Yield a heading and its lines below it."""
    yield section.title
    for line in section.lines:
        yield f"  {line}"


def paint(line: str, *, colour: bool) -> str:
    """Return a line in the colour of its mark."""
    mark = line.strip()[:2]
    wanted = colour and mark[1:] == " " and mark[0] in _COLOURS
    return click.style(line, fg=_COLOURS[mark[0]]) if wanted else line
