"""Compare what jobs and claims may be, regulations, logs and alerts, as people know them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import starmap

from trainyard.change.impact.values import differing, differing_or_absent
from trainyard.change.objects import Objects, Sides, of_kind
from trainyard.model.lookup import EVERY, mappings, text, value_at
from trainyard.model.platform import Site
from trainyard.model.quantity import parse_amount
from trainyard.model.tenant import Tenant
from trainyard.render.evidence import unanswered


@dataclass(frozen=True, slots=True)
class PriorityChange:
    """A priority that jobs of some namespaces may have from now on, or no longer."""

    priority: str
    added: bool
    namespaces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DeadlineChange:
    """A priority whose jobs may run for another time; seconds, 0 for any time."""

    priority: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class ClaimChange:
    """A claim with another size.

    Args:
        before, after: quantities, as the claim requests them.
    """

    namespace: str
    claim: str
    before: str
    after: str

    @property
    def grows(self) -> bool:
        """Return whether the storage grows: no claim can be made smaller again."""
        return parse_amount(self.after) > parse_amount(self.before)


@dataclass(frozen=True, slots=True)
class RegulationChange:
    """A team that is under another regulation than before, or held to other measures.

    Args:
        before, after: title of the regulation; empty for none.
        lost, gained: measures that are demanded of it no longer, or now; sorted.
        opened, answered: measures that the tree alone meets no longer, or now; sorted.
    """

    team: str
    before: str
    after: str
    lost: tuple[str, ...]
    gained: tuple[str, ...]
    opened: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LogChange:
    """How long the log store keeps the lines of some teams' pods, where it differs.

    No object has it: the owner of the store takes it from the README of the cluster.

    Args:
        teams: on both sides, sorted.
        before, after: days; 0 where no profile states it.
    """

    teams: tuple[str, ...]
    before: int
    after: int

    @property
    def is_shorter(self) -> bool:
        """Whether lines are kept for a shorter time than before."""
        return 0 < self.after < self.before


@dataclass(frozen=True, slots=True)
class AlertChange:
    """An alert that comes, goes or has another severity.

    Args:
        before, after: its severity; empty where it is not.
    """

    alert: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class WaitingChange:
    """Jobs of a priority that wait longer or shorter until an alert fires; in seconds."""

    priority: str
    before: int
    after: int


def claim_changes(sides: Sides) -> tuple[ClaimChange, ...]:
    """Return each claim on both sides with another size, sorted."""
    changes = differing(_sizes(sides.before), _sizes(sides.after))
    return tuple(ClaimChange(*claim, before, after) for claim, before, after in changes)


def _sizes(objects: Objects) -> dict[tuple[str, str], str]:
    """Return the size of each claim by its namespace and name."""
    sizes = {}
    for claim in of_kind(objects, "PersistentVolumeClaim"):
        size = value_at(claim.body, "spec.resources.requests.storage")
        sizes[claim.namespace, claim.name] = str(size)
    return sizes


_NO_MEASURES: AbstractSet[str] = frozenset()


def regulation_changes(sides: Sides) -> tuple[RegulationChange, ...]:
    """Return each team on both sides that is under another regulation, or held to other measures.

    So is one of which a measure is met no longer, or now. Sorted by team.
    """
    changes = []
    was_open, is_open = _open(sides.old, sides.before), _open(sides.new, sides.after)
    for name, old, new in sides.kept_tenants() if sides.are_comparable else ():
        (before, had), (after, has) = _demands(old), _demands(new)
        lacked, lacks = was_open.get(old.name, _NO_MEASURES), is_open.get(new.name, _NO_MEASURES)
        both = had & has
        differing = (had - has, has - had, (lacks - lacked) & both, (lacked - lacks) & both)
        if before != after or any(differing):
            changes.append(RegulationChange(name, before, after, *map(_sorted, differing)))
    return tuple(changes)


def _open(site: Site | None, objects: Objects) -> Mapping[str, AbstractSet[str]]:
    """Return the measures that are not met, by team."""
    # Committed ones may lack what a binding of today has.
    stated = [each for each in objects.values() if "roleRef" not in each.body]
    return unanswered(site, stated) if site else {}


def _sorted(measures: AbstractSet[str]) -> tuple[str, ...]:
    return tuple(sorted(measures))


def _demands(tenant: Tenant) -> tuple[str, AbstractSet[str]]:
    """Return the title of a team's regulation and its measures; empty for none."""
    compliance = tenant.team.compliance
    return (compliance.title, compliance.controls.keys()) if compliance else ("", frozenset())


def priority_changes(sides: Sides) -> tuple[PriorityChange, ...]:
    """Return each priority that some namespaces' jobs may have from now on, or no longer.

    Namespaces on one side only are left out. Sorted.
    """
    if not sides.are_comparable:
        return ()
    before, after = dict(_priorities(sides.old)), dict(_priorities(sides.new))
    namespaces: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for namespace, had, has in differing(before, after):
        for priority in had ^ has:
            namespaces[priority, priority in has].append(namespace)
    return tuple(PriorityChange(*key, tuple(some)) for key, some in sorted(namespaces.items()))


def deadline_changes(sides: Sides) -> tuple[DeadlineChange, ...]:
    """Return each priority on both sides whose jobs may run for another time, sorted."""
    before, after = dict(_deadlines(sides.old)), dict(_deadlines(sides.new))
    return tuple(starmap(DeadlineChange, differing(before, after)))


def _priorities(site: Site | None) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield each namespace with the priorities that its jobs may have."""
    for tenant in site.tenants if site else ():
        for space in tenant.spaces:
            yield space.namespace, frozenset(priority.name for priority in space.priorities)


def _deadlines(site: Site | None) -> Iterator[tuple[str, int]]:
    for priority in site.cluster.priorities if site else ():
        yield priority.name, priority.deadline


def alert_changes(sides: Sides) -> tuple[AlertChange, ...]:
    """Return each alert that comes, goes or has another severity; sorted."""
    before, after = _severities(sides.before), _severities(sides.after)
    return tuple(starmap(AlertChange, differing_or_absent(before, after, "")))


def _severities(objects: Objects) -> dict[str, str]:
    """Return the severity of each alert. Rules of one alert have the same."""
    severities = {}
    for manifest in of_kind(objects, "PrometheusRule"):
        for rule in mappings(manifest.body, "spec", "groups", EVERY, "rules"):
            if alert := text(rule, "alert"):
                severities[alert] = text(rule, "labels", "severity")
    return severities


def waiting_changes(sides: Sides) -> tuple[WaitingChange, ...]:
    """Return each priority on both sides whose jobs may wait for another time; sorted."""
    return tuple(starmap(WaitingChange, differing(_waiting(sides.old), _waiting(sides.new))))


def _waiting(site: Site | None) -> dict[str, int]:
    """Return the seconds that a job of each priority may wait, where a Prometheus watches."""
    return site.cluster.waiting_limits if site and site.cluster.monitoring else {}


def log_changes(sides: Sides) -> tuple[LogChange, ...]:
    """Return each other number of days, with the teams on both sides that it is for; sorted."""
    teams: dict[tuple[int, int], list[str]] = defaultdict(list)
    for name, old, new in sides.kept_tenants():
        if old.days_of_logs != new.days_of_logs:
            teams[old.days_of_logs, new.days_of_logs].append(name)
    return tuple(LogChange(tuple(names), *days) for days, names in sorted(teams.items()))


def drop_change(sides: Sides) -> bool | None:
    """Return whether lines with a credential are dropped from now on; None where nothing differs.

    A cluster that is created or deleted has no lines on the other side.
    """
    if sides.old is None or sides.new is None:
        return None
    before, after = _drops(sides.old), _drops(sides.new)
    return after if before != after else None


def _drops(site: Site) -> bool:
    monitoring = site.cluster.monitoring
    return bool(monitoring and monitoring.logs and monitoring.logs.drops_credentials)
