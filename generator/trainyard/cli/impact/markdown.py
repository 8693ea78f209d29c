"""The impact of a change as Markdown: the body of a comment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain

from trainyard.change.diff import Diff
from trainyard.change.impact.model import ClusterImpact, Impact
from trainyard.cli.console import printable
from trainyard.cli.findings import Findings
from trainyard.cli.forms.fence import fenced
from trainyard.cli.forms.markdown import LIMIT, section
from trainyard.cli.impact.approval import approval
from trainyard.cli.impact.headline import compared, is_nothing, totals, upgrade_lines, verdict
from trainyard.cli.impact.profiles import profiles
from trainyard.cli.impact.releases import release_section
from trainyard.cli.impact.sections import Section, cluster_line, sections, units_section
from trainyard.hosts.sticky import NOTHING
from trainyard.model.quantity import counted

_PART_LIMIT = 8_000
"""Bytes for the edits of profiles, and for who approves them."""

_IMPACT_LIMIT = 40_000
"""Bytes for the impact; the findings have the rest of the limit."""


def markdown(diff: Diff, found: Findings, *, fields: bool) -> str:
    """Return the impact in the most detailed form that is not too long, then the findings.

    The forms are everything, one line for each sync unit, and numbers. All text that comes from
    profiles is in blocks of code, where no host reads Markdown, HTML or a mention.

    Args:
        diff: the change.
        found: its findings.
        fields: each field that differs instead of each kind of edit.
    """
    parts = [f"{NOTHING}\n"] if is_nothing(diff) else []
    parts += [_impact(diff, diff.impact, fields=fields) if diff.impact else _body(diff, None, ())]
    room = LIMIT - sum(len(part.encode()) + 1 for part in parts)
    parts += [section("diff", "Findings", found, room)] if found.diagnostics else []
    return "\n".join(parts)


def _impact(diff: Diff, impact: Impact, *, fields: bool) -> str:
    forms: tuple[Callable[[ClusterImpact], Iterable[Section]], ...] = (
        partial(sections, fields=fields),
        partial(sections, fields=False),
        _by_unit,
        lambda _: (),
    )
    for describe in forms:
        clusters = (_cluster(cluster, describe(cluster)) for cluster in impact.clusters)
        body = _body(diff, impact, chain.from_iterable(clusters))
        if len(body.encode()) <= _IMPACT_LIMIT:
            return body
    number = counted(len(impact.clusters), "cluster")
    return _body(diff, impact, [f"{number}, too many to be listed here\n"])


def _body(diff: Diff, impact: Impact | None, clusters: Iterable[str]) -> str:
    """Return the head and the foot, whose length is limited, and the clusters between them."""
    totals_line = [f"{totals(impact)}\n"] if impact else []
    ways = in_parts(map(release_section, diff.releases))
    return "\n".join((_head(diff), *totals_line, *ways, *clusters, *_foot(diff)))


def _cluster(cluster: ClusterImpact, parts: Iterable[Section]) -> Iterator[str]:
    yield f"#### {cluster_line(cluster)}\n"
    for part in parts:
        yield f"{part.title}\n\n{_fenced(part.lines)}\n"


def _head(diff: Diff) -> str:
    return f"### trainyard diff\n\n{_fenced(verdict(diff))}\n"


def _foot(diff: Diff) -> Iterator[str]:
    yield from in_parts(filter(None, (profiles(diff.approvals), approval(diff))))
    if diff.impact and diff.impact.upgrade:
        yield f"{_fenced(upgrade_lines(diff.impact.upgrade))}\n"
    yield "\n".join(compared(diff)) + "\n"


def in_parts(parts: Iterable[Section]) -> Iterator[str]:
    """Yield each part with its lines as a block of code, cut where it is too long."""
    for part in parts:
        yield f"{part.title}\n\n{_fenced(_bounded(part.lines))}\n"


def _bounded(lines: Sequence[str]) -> list[str]:
    """Return the first lines, and how many more there are where all would be too long."""
    shown: list[str] = []
    room = _PART_LIMIT
    for line in lines:
        room -= len(line.encode()) + 1
        if room < 0:
            rest = counted(len(lines) - len(shown), "more line")
            return [*shown, f"  and {rest}, which `trainyard diff` prints"]
        shown.append(line)
    return shown


def _by_unit(cluster: ClusterImpact) -> Iterator[Section]:
    """Yield the disruptions, and one line for each sync unit."""
    for part in sections(cluster, fields=False):
        if part.title == "Disruption":
            yield part
    yield from units_section(cluster)


def _fenced(lines: Iterable[str]) -> str:
    """Return lines as a block of code in which added and removed lines have colours."""
    return fenced("\n".join(map(printable, lines)), "diff")
