"""The head of the page: the verdict, and the size of the platform."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from htpy import Element, Fragment, fragment, h1, header, p, span

from trainyard.change.impact.objects import number_synced
from trainyard.model.money import Money
from trainyard.model.quantity import counted
from trainyard.report.content import Change, Content
from trainyard.report.elements import prose, terms

_WORSE = ("fine", "warned", "bad")


def verdict(content: Content) -> Element:
    """Return the head of the page, in the colour of the worse of platform and change."""
    kind, sentence = _sentence(content)
    kinds = [kind, content.change.kind] if content.change else [kind]
    return header(class_=max(kinds, key=_WORSE.index))[
        p(".kicker")[f"Trainyard report of {content.title}"],
        h1[sentence],
        _change(content.change) if content.change else None,
        p(".checked")[_checked(content)],
        terms(_tiles(content), "tiles"),
    ]


def _change(change: Change) -> Fragment:
    return fragment[
        p(f".change.{change.kind}")[span["This change: "], prose(change.headline)],
        p(".kicker")[change.origin],
    ]


def _sentence(content: Content) -> tuple[str, str]:
    """Return the class of the verdict, and the verdict."""
    errors, warnings = content.count("error"), content.count("warning")
    waived = f"; {counted(len(content.waivers), 'waiver')}" if content.waivers else ""
    if errors:
        return "bad", f"{counted(errors, 'error')}: this platform can't be delivered"
    if warnings:
        return "warned", f"No errors, {counted(warnings, 'warning')}{waived}"
    return "fine", f"No errors, no warnings{waived}"


def _checked(content: Content) -> str:
    profiles = counted(content.profiles, "profile")
    counts = [cluster.count for cluster in content.clusters if cluster.count]
    if counts:
        objects = sum(count.objects for count in counts)
        return (
            f"{profiles}, and {objects:,} objects of the committed tree: valid against strict "
            "schemas, built by kustomize, valid in kubeconform."
        )
    objects = _objects(content)
    if objects:
        reason = content.unverified or "the errors below stopped it"
        return (
            f"{profiles}, and {objects:,} generated objects: checked against strict schemas. "
            f"kustomize and kubeconform did not look at the tree: {reason}."
        )
    return f"{profiles}; nothing was generated, because of the errors below."


def _tiles(content: Content) -> Iterator[tuple[str, str]]:
    teams: set[str] = set()
    nodes, gpus, room = 0, 0, Fraction(0)
    for cluster in content.clusters:
        teams.update(tenant.name for tenant in cluster.site.tenants)
        for pool in cluster.capacity.pools:
            nodes += pool.nodes
            gpus += pool.nodes * pool.gpus
            # What others own too much is not subtracted.
            room += max(pool.head_room, Fraction(0))
    yield "Clusters", str(len(content.clusters))
    yield "Teams", f"{len(teams):,}"
    yield "Nodes", f"{nodes:,}"
    yield "GPUs", f"{gpus:,}"
    yield "Nodes of head-room", f"{round(float(room), 2):g}"
    yield "Objects", f"{_objects(content):,}"
    if cost := ", ".join(_costs(content)):
        yield "Cost of all nodes a month", cost


def _objects(content: Content) -> int:
    """Return how many objects Argo CD syncs; samples and artifacts are none of them."""
    return sum(number_synced(cluster.manifests) for cluster in content.clusters)


def _costs(content: Content) -> Iterator[str]:
    """Yield what all nodes with a price cost in a month, by currency."""
    months: Counter[str] = Counter()
    for cluster in content.clusters:
        for pool in cluster.site.cluster.pools:
            if pool.price:
                month = pool.price.month(pool.nodes)
                months[month.currency] += month.minor
    for currency, minor in sorted(months.items()):
        yield f"{Money(minor, currency).display.partition('.')[0]} {currency}"
