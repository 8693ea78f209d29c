"""Collect what a report shows, with the words and places that the other forms have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trainyard import __version__
from trainyard.capacity.measure import measure
from trainyard.change.diff import Diff
from trainyard.change.impact.model import Impact
from trainyard.change.impact.reaction import Effect
from trainyard.cli.console import printable
from trainyard.cli.findings import NOTES, Findings
from trainyard.cli.impact.approval import approval
from trainyard.cli.impact.headline import compared, totals, upgrade_lines, verdict
from trainyard.cli.impact.notices import notices
from trainyard.cli.impact.profiles import profiles
from trainyard.cli.impact.sections import cluster_line, sections
from trainyard.cli.places import Place
from trainyard.diagnostics import Diagnostic, Note, has_errors
from trainyard.generation.objects import component_manifests
from trainyard.generation.waivers import waivers_of
from trainyard.git.objects import Commit
from trainyard.model.platform import Platform
from trainyard.report.content import Change, Cluster, Content, Finding, Group, Waiver
from trainyard.workflows.verify import Examined
from trainyard.yaml_io.source import Source


def content(examined: Examined, found: Findings, clusters: tuple[str, ...]) -> Content:
    """Return the report of a platform without a change.

    Args:
        examined: the platform.
        found: all findings.
        clusters: names of the only ones wanted; all when empty.
    """
    checked = examined.generation.checked
    platform = checked.platform
    return Content(
        version=__version__,
        title=platform.settings.repository if platform else "profiles that can't be read",
        profiles=len(found.places.profiles),
        findings=tuple(_finding(group, found) for group in found.grouped()),
        waivers=_waivers(checked.profiles.waivers) if platform else (),
        clusters=tuple(_clusters(platform, examined, clusters)) if platform else (),
        unverified=examined.unverified,
        change=None,
    )


def with_change(plain: Content, diff: Diff) -> Content:
    """Return a report that begins with what a change does."""
    return replace(plain, change=_change(diff))


def _change(diff: Diff) -> Change:
    notes = tuple(map(printable, compared(diff)))
    if diff.impact is None:
        unknown = "What the change does is unknown, because there are errors."
        return Change("bad", _origin(diff), unknown, "", (), notes)
    upgrade = upgrade_lines(diff.impact.upgrade) if diff.impact.upgrade else ()
    return Change(
        kind="bad" if has_errors(diff.diagnostics) else _kind(diff.impact),
        origin=_origin(diff),
        headline=printable("; ".join(verdict(diff))),
        totals=totals(diff.impact),
        groups=tuple(_groups(diff, diff.impact)),
        notes=(*map(printable, upgrade), *notes),
    )


def _origin(diff: Diff) -> str:
    """Return which commits were compared, who made them and when."""
    head = "commit" if diff.head else "the work tree on commit"
    return printable(f"From commit {_commit(diff.base)} to {head} {_commit(diff.tip)}.")


def _commit(commit: Commit) -> str:
    author = f" by {commit.author}" if commit.author else ""
    return f"{commit.short} of {commit.date}{author}"


def _kind(impact: Impact) -> str:
    if impact.worst is None:
        return "warned" if any(notices(impact)) else "fine"
    return "bad" if impact.worst.effect >= Effect.DRAINS else "warned"


def _groups(diff: Diff, impact: Impact) -> Iterator[Group]:
    for cluster in impact.clusters:
        parts = tuple(
            (section.title, tuple(map(printable, section.lines)))
            for section in sections(cluster, fields=False)
        )
        yield Group(printable(cluster_line(cluster)), parts)
    about = filter(None, (profiles(diff.approvals), approval(diff)))
    if every := tuple((part.title, tuple(map(printable, part.lines))) for part in about):
        yield Group("all clusters", every)


def _waivers(source: Source) -> tuple[Waiver, ...]:
    """Return the waivers of a profile that has the right shape."""
    return tuple(
        Waiver(each.rule, each.where, each.reason, each.owner, each.expires)
        for each in waivers_of(source)
    )


def _clusters(platform: Platform, examined: Examined, wanted: tuple[str, ...]) -> Iterator[Cluster]:
    for site in platform.sites:
        if not wanted or site.name in wanted:
            generated = examined.generation.manifests.get(site.name, ())
            yield Cluster(
                site=site,
                capacity=measure(site, platform.allocations),
                manifests=(*generated, *component_manifests(site)),
                count=examined.counts.get(site.name),
            )


def _finding(group: list[tuple[Diagnostic, Place]], found: Findings) -> Finding:
    first = group[0][0]
    return Finding(
        rule=first.rule,
        severity=first.severity,
        message=printable(first.message if len(group) == 1 else first.cause),
        places=tuple(printable(str(place)) for _, place in group),
        consequence=first.consequence,
        hint=printable(first.hint),
        notes=tuple(_note(note, found) for note in first.notes[:NOTES]),
    )


def _note(note: Note, found: Findings) -> str:
    place = f" ({found.places.find(note.at)})" if note.at else ""
    return printable(f"{note.message}{place}")
