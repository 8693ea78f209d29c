"""Compare every cluster before and after a change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from trainyard.change.impact.access import (
    access_changes,
    namespace_changes,
    rename_changes,
    role_changes,
)
from trainyard.change.impact.attachments import address_changes
from trainyard.change.impact.disruption import Disturbed, disturbed
from trainyard.change.impact.dumped import jobs_change
from trainyard.change.impact.facts import fact_changes
from trainyard.change.impact.hands import hand_changes, node_work, server_change
from trainyard.change.impact.model import ClusterImpact, Impact, Upgrade
from trainyard.change.impact.network import path_changes
from trainyard.change.impact.objects import ObjectChange, object_changes
from trainyard.change.impact.pools import (
    cohort_changes,
    maintenance_changes,
    order_changes,
    payer_changes,
    pool_changes,
)
from trainyard.change.impact.quotas import quota_changes, transfers
from trainyard.change.impact.remaining import on_cluster
from trainyard.change.impact.rights import term_changes, viewer_changes
from trainyard.change.impact.runtimes import runtime_changes
from trainyard.change.impact.states import (
    alert_changes,
    claim_changes,
    deadline_changes,
    drop_change,
    log_changes,
    priority_changes,
    regulation_changes,
    waiting_changes,
)
from trainyard.change.impact.stops import stop_changes
from trainyard.change.objects import Sides
from trainyard.model.workload import Dump

_NONE: Mapping[str, Dump] = MappingProxyType({})


def compare(
    clusters: Iterable[Sides], upgrade: Upgrade | None, dumps: Mapping[str, Dump] = _NONE
) -> Impact:
    """Return what a change does.

    Args:
        clusters: on both sides.
        upgrade: objects that no profile has changed; they are counted, and not listed.
        dumps: jobs by cluster, of those whose jobs are known.

    Raises:
        TreeError: a dump is of another cluster.
    """
    # A cluster that was given up has a lockfile and no object, now as before.
    impacts = (
        _cluster(sides, upgrade, dumps.get(sides.name))
        for sides in clusters
        if sides.before or sides.after
    )
    return Impact(tuple(filter(None, impacts)), upgrade)


def _cluster(sides: Sides, upgrade: Upgrade | None, dump: Dump | None) -> ClusterImpact | None:
    """Return the impact on a cluster; None when nothing changes there."""
    edited, objects, stays = _changed(sides)
    disruptions = disturbed(edited.in_use, objects)
    impact = ClusterImpact(
        sides.name,
        _change(sides),
        disruptions=tuple(each.disruption for each in disruptions),
        renames=rename_changes(stays),
        stops=stop_changes(sides),
        quotas=quota_changes(sides),
        transfers=transfers(sides.in_use),
        payers=payer_changes(sides),
        cohorts=cohort_changes(sides),
        orders=order_changes(sides),
        pools=pool_changes(sides),
        maintenance=maintenance_changes(sides),
        namespaces=namespace_changes(stays),
        regulations=regulation_changes(sides),
        claims=claim_changes(stays),
        priorities=priority_changes(sides),
        deadlines=deadline_changes(sides),
        access=access_changes(stays),
        roles=role_changes(stays),
        terms=term_changes(sides),
        viewers=viewer_changes(sides),
        logs=log_changes(sides),
        alerts=alert_changes(edited),
        waiting=waiting_changes(sides),
        drops_credentials=drop_change(sides),
        network=path_changes(stays),
        addresses=address_changes(stays),
        runtimes=runtime_changes(edited),
        objects=_edited(objects, upgrade, sides.name),
        hands=hand_changes(sides),
        node_work=node_work(sides),
        server=server_change(sides),
        facts=fact_changes(sides),
    )
    return _with_jobs(impact, sides, disruptions, dump)


def _changed(sides: Sides) -> tuple[Sides, tuple[ObjectChange, ...], Sides]:
    """Return both sides, without objects where these are equal; their changes; and what stays."""
    edited = replace(sides, before={}, after={}) if _same_objects(sides) else sides
    return edited, object_changes(edited), on_cluster(edited)


def _with_jobs(
    impact: ClusterImpact, sides: Sides, found: Iterable[Disturbed], dump: Dump | None
) -> ClusterImpact | None:
    """Return an impact with what becomes of a dump's jobs; None when nothing changes."""
    if impact == ClusterImpact(sides.name, "changed"):
        return None
    return replace(impact, jobs=jobs_change(sides, found, dump)) if dump else impact


def _change(sides: Sides) -> str:
    if not sides.before:
        return "created"
    return "changed" if sides.after else "deleted"


def _same_objects(sides: Sides) -> bool:
    """Return whether no object differs, without a look into them: most clusters don't change."""
    before, after = sides.before, sides.after
    return before.keys() == after.keys() and all(after[key] is old for key, old in before.items())


def _edited(
    objects: tuple[ObjectChange, ...], upgrade: Upgrade | None, cluster: str
) -> tuple[ObjectChange, ...]:
    """Return the objects without those that only another version of Trainyard changes."""
    moved = upgrade.objects.get(cluster, frozenset()) if upgrade else frozenset()
    return tuple(each for each in objects if each.identity not in moved)
