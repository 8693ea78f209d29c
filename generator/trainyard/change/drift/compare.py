"""Compare a cluster with the tree that is committed for it, team by team, as a change of the tree.

So the sentences of `diff` say what somebody did on the cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from trainyard.change.drift.added import added, effect
from trainyard.change.drift.authors import doubtful_labels, lost, made, since
from trainyard.change.drift.meaning import facts_of
from trainyard.change.drift.overlay import Schema, overlaid, schema_of
from trainyard.change.drift.queues import promised, stopped
from trainyard.change.impact.access import access_changes, namespace_changes, role_changes
from trainyard.change.impact.attachments import address_changes
from trainyard.change.impact.model import ClusterImpact
from trainyard.change.impact.network import path_changes
from trainyard.change.impact.objects import ObjectChange, scope_of
from trainyard.change.impact.places import team_of_object
from trainyard.change.impact.runtimes import runtime_changes
from trainyard.change.impact.states import alert_changes, claim_changes
from trainyard.change.objects import Objects, Sides
from trainyard.model.differences import Difference, differences
from trainyard.model.facts import Body, Resource, place_of
from trainyard.model.identity import Identity, identity
from trainyard.model.live import Live
from trainyard.model.lookup import text
from trainyard.model.manifest import Manifest
from trainyard.model.readable import CRDS, resource_of
from trainyard.schema.manifests import check_committed

_NOT_THERE, _NOT_IN_DUMP = "not on the cluster", "not in the dump"
_ADDED = "not in the tree"
"""Why an object is called deleted or created."""


@dataclass(frozen=True, slots=True)
class Part:
    """What differs of a team.

    Args:
        team: its name; empty for the platform.
        impact: of what somebody did.
    """

    team: str
    impact: ClusterImpact


@dataclass(frozen=True, slots=True)
class Drift:
    """What differs on a cluster.

    Args:
        cluster: its name.
        objects: of the tree that were compared.
        left_out: objects of the tree whose kind is not read, sorted.
        parts: of the platform and of each team with a difference, sorted.
        is_synced: whether some object of the cluster is one that the tree made.
    """

    cluster: str
    objects: int
    left_out: tuple[Identity, ...]
    parts: tuple[Part, ...]
    is_synced: bool

    @property
    def differing(self) -> int:
        """Number of the objects that differ."""
        return sum(len(part.impact.objects) for part in self.parts)


class _Found(NamedTuple):
    """An object that differs.

    Args:
        old: of the tree; None where it has none.
        new: on the cluster; None where it is not there.
        have: as it was read; empty where it is not there.
    """

    old: Manifest | None
    new: Manifest | None
    have: Body

    @property
    def manifest(self) -> Manifest:
        """The object of either side."""
        found = self.old or self.new
        assert found is not None
        return found


def drift_of(live: Live) -> Drift:
    """Return what differs between a cluster and its tree, of the kinds that could be read."""
    left_out = sorted(identity(each) for each in live.delivered if not resource_of(each.body))
    compared = list(_compared(live))
    tree = {identity(each): each for each in live.manifests}
    parts: dict[str, list[_Found]] = {}
    for found in (*compared, *(_Found(None, *each) for each in added(live, tree))):
        if found.old is not found.new:
            parts.setdefault(team_of_object(found.manifest), []).append(found)
    return Drift(
        live.site.name,
        len(compared),
        tuple(left_out),
        tuple(Part(team, _impact(live, tree, parts[team])) for team in sorted(parts)),
        _is_synced(live, compared),
    )


def _is_synced(live: Live, compared: Iterable[_Found]) -> bool:
    return any(each.have and not live.owner(each.have) for each in compared)


class Overwritten(NamedTuple):
    """What a sync would change in an object of others that a profile adopts.

    Labels and annotations are added, and change nothing for others; but what `kubectl apply`
    wrote and the tree lacks is deleted.

    Args:
        fields: outside of its metadata.
        lost: what `kubectl apply` wrote, and the tree lacks.
        doubtful: labels that the tree lacks, where the dump does not say who wrote them.
    """

    manifest: Manifest
    fields: tuple[Difference, ...]
    lost: list[str]
    doubtful: list[str]


def adopted(live: Live) -> Iterator[Overwritten]:
    """Yield what a sync would change in each object of others that a profile adopts."""
    adoption = live.site.cluster.adoption
    for found in _compared(live):
        if found.new and adoption.takes(found.new.body) and live.owner(found.have):
            fields = _fields(found.new.body, found.manifest.body)
            gone = lost(found.have, found.manifest.body, _of_others(found.manifest.body))
            doubtful = doubtful_labels(found.have, found.manifest.body)
            if fields or gone or doubtful:
                yield Overwritten(found.manifest, fields, gone, doubtful)


def _of_others(body: Body) -> tuple[str, ...]:
    """Return the paths of fields that the tree may leave to others."""
    resource = resource_of(body)
    return resource.compared if resource and resource.is_open else ()


def _fields(have: Body, tree: Body) -> tuple[Difference, ...]:
    """Return the fields outside of its metadata in which an object differs from the tree's."""
    every = differences(have, tree)
    return tuple(each for each in every if not each.path.startswith("metadata"))


def unserved(live: Live) -> Iterator[tuple[Resource, str]]:
    """Yield the kinds of the tree that the cluster serves in another version, and that version."""
    read = _read(live)
    wanted: dict[Resource, set[str]] = {}
    for resource, api_version in _kinds(live):
        wanted.setdefault(resource, set()).add(api_version)
    for resource, versions in wanted.items():
        served = {text(dict(each), "apiVersion") for each in read.get(resource, {}).values()}
        for version in sorted(served - versions):
            yield resource, version


def _compared(live: Live) -> Iterator[_Found]:
    """Yield each object of the tree whose kind was read, with what the cluster has."""
    unread = {each.resource for each in live.facts.unread}
    unread |= {resource.display for resource, _ in unserved(live)}
    read = _read(live)
    for (resource, api_version), manifests in _kinds(live).items():
        if resource.display not in unread:
            known, schema = read.get(resource, {}), _schema(live, api_version, resource.kind)
            for manifest in manifests:
                have = known.get((manifest.namespace, manifest.name))
                yield _beside(resource, manifest, have, schema)


def _kinds(live: Live) -> dict[tuple[Resource, str], list[Manifest]]:
    """Return the objects of the tree whose kind is read, by kind and version."""
    kinds: dict[tuple[Resource, str], list[Manifest]] = {}
    for manifest in live.delivered:
        if resource := resource_of(manifest.body):
            kinds.setdefault((resource, manifest.body["apiVersion"]), []).append(manifest)
    return kinds


def _read(live: Live) -> dict[Resource, dict[tuple[str, str], Body]]:
    """Return the objects of the cluster by kind, namespace and name."""
    read: dict[Resource, dict[tuple[str, str], Body]] = {}
    for body in live.facts.objects:
        if resource := resource_of(body):
            read.setdefault(resource, {})[place_of(body)] = body
    return read


def _beside(resource: Resource, manifest: Manifest, have: Body | None, schema: Schema) -> _Found:
    """Return an object of the tree with what the cluster has; the same object if that is equal."""
    if have is None:
        return _Found(manifest, None, {})
    body = overlaid(resource, manifest.body, have, schema)
    same = body == manifest.body
    return _Found(manifest, manifest if same else replace(manifest, body=body), have)


def _schema(live: Live, api_version: str, kind: str) -> Schema:
    """Return the schema of a kind by the cluster's own CRD; empty for one of Kubernetes."""
    group, _, version = api_version.rpartition("/")
    for crd in map(dict, live.of(CRDS)):
        if (text(crd, "spec", "group"), text(crd, "spec", "names", "kind")) == (group, kind):
            return schema_of(crd, version)
    return {}


def _impact(live: Live, tree: Objects, found: list[_Found]) -> ClusterImpact:
    """Return what somebody did to some objects, as if a change of the tree did it."""
    gone = _NOT_THERE if live.facts.server else _NOT_IN_DUMP
    changes = (_change(each, gone) for each in found)
    objects = tuple(sorted(changes, key=lambda change: change.identity))
    after = dict(tree)
    for each in found:
        key = identity(each.manifest)
        if each.new is None:
            del after[key]
        # Of an object in another form than the tree's only the fields are shown.
        elif not check_committed(each.new.body):
            after[key] = each.new
    authors = {change.identity: change.reason for change in objects}
    sides = Sides(live.site.name, live.site, live.site, tree, after)
    return ClusterImpact(
        live.site.name,
        "changed",
        stops=stopped(sides, authors),
        quotas=promised(sides),
        namespaces=namespace_changes(sides),
        claims=claim_changes(sides),
        access=access_changes(sides),
        roles=role_changes(sides),
        alerts=alert_changes(sides),
        network=path_changes(sides),
        addresses=address_changes(sides),
        runtimes=runtime_changes(sides),
        objects=objects,
        facts=facts_of(sides),
    )


def _change(found: _Found, gone: str) -> ObjectChange:
    """Return what became of an object, and since when and by whom as its reason.

    Args:
        found: the object.
        gone: why one that is not there is called deleted.
    """
    manifest, old, new = found.manifest, found.old, found.new
    fields: tuple[Difference, ...] = ()
    if new is None:
        verb, reason = "deleted", gone
    elif old is None:
        verb, reason = (
            "created",
            "; ".join(filter(None, (_ADDED, effect(manifest), made(found.have)))),
        )
    else:
        every = differences(old.body, new.body)
        fields = tuple(sorted(every, key=lambda field: field.path))
        verb, reason = "changed", since(found.have, (field.path for field in fields))
    return ObjectChange(identity(manifest), verb, scope_of(manifest), manifest.unit, reason, fields)
