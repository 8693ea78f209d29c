"""Describe in lines who may do more or less."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.change.impact.model import ClusterImpact
from trainyard.change.impact.rights import TermChange, ViewerChange
from trainyard.cli.impact.marks import Names, signed
from trainyard.model.monitoring import CONSOLE, CONSOLE_NAMESPACE


def access_lines(cluster: ClusterImpact, names: Names) -> Iterator[str]:
    """Yield namespaces that come and go, and who may do more or less."""
    for space in cluster.namespaces:
        yield f"{'+' if space.added else '-'} namespace {space.namespace}"
    for access in cluster.access:
        for mark, roles in (("+", access.gained), ("-", access.lost)):
            for role in roles:
                where = names(role.namespaces) or "the whole cluster"
                yield f"{mark} {access.subject}: {role.role} in {where}"
    yield from map(_term, cluster.terms)
    for viewer in cluster.viewers:
        yield from _viewer(viewer)
    yield from _roles(cluster, names)


def _roles(cluster: ClusterImpact, names: Names) -> Iterator[str]:
    for role in cluster.roles:
        yield f"~ {role.role}, bound to {names(role.subjects) or 'nobody'}"
        # A permission stands below its role.
        yield from signed(_indented(role.gained), _indented(role.lost))


def _indented(permissions: Iterable[str]) -> Iterator[str]:
    return (f"  {permission}" for permission in permissions)


def _term(term: TermChange) -> str:
    """Return who may do what until when, or no longer."""
    if not term.after:
        return f"- {term.subject} may no longer {term.right} (was until {term.before})"
    may = f"{term.subject} may {term.right} until"
    if not term.before:
        return f"+ {may} {term.after}"
    return f"~ {may} {term.before} -> {term.after}"


def _viewer(change: ViewerChange) -> Iterator[str]:
    """Yield who sees dashboards, or what an owner does so that nobody does."""
    if change.viewer != CONSOLE:
        yield f"{'+' if change.added else '-'} who may open Grafana: dashboards of all teams"
    elif change.added:
        yield (
            "+ who may read all metrics: dashboards of all teams in OpenShift's console, "
            "once a cluster admin applies `operators/`"
        )
    else:
        yield "- OpenShift's console keeps the dashboards until a cluster admin deletes them:"
        yield (
            f"  oc -n {CONSOLE_NAMESPACE} delete configmaps "
            "--selector app.kubernetes.io/managed-by=trainyard"
        )
