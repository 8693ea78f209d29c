"""Describe the impact on one cluster in lines, in the order in which a reviewer asks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby
from operator import attrgetter

from trainyard.change.impact.disruption import Disruption
from trainyard.change.impact.edits import Edit, as_text, same_edits
from trainyard.change.impact.model import ClusterImpact
from trainyard.change.impact.objects import ObjectChange
from trainyard.change.impact.reaction import Effect
from trainyard.change.impact.runtimes import RuntimeChange
from trainyard.cli.impact.access import access_lines
from trainyard.cli.impact.duties import duty_lines
from trainyard.cli.impact.jobs import running_lines, stuck_lines
from trainyard.cli.impact.marks import MARKS, Names, every, with_parts
from trainyard.cli.impact.quotas import quota_lines
from trainyard.cli.impact.states import compliance_lines, fact_lines, job_lines, storage_lines
from trainyard.model.differences import few
from trainyard.model.identity import Identity
from trainyard.model.quantity import counted, format_seconds

_FEW_EDITS = 3
"""Edits of one kind of object, and fields of one edit, that are shown without being asked for."""

_SORT = attrgetter("kind", "change", "scope", "reason")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its lines.

    Each line begins with ``+``, ``-``, ``~`` or ``!`` and a space, or with two spaces if it
    explains the one above.
    """

    title: str
    lines: tuple[str, ...]


def sections(cluster: ClusterImpact, *, fields: bool) -> Iterator[Section]:
    """Yield what there is to say about a cluster.

    Args:
        cluster: with its impact.
        fields: each object with each field that differs, instead of each kind of edit once; and
            each name of a line, instead of the first ones.
    """
    names = every if fields else few
    parts: dict[str, Callable[[ClusterImpact], Iterator[str]]] = {
        "Disruption": _disruptions,
        "Running jobs": running_lines,
        "Waiting jobs": stuck_lines,
        "Quota": partial(quota_lines, names=names),
        "Jobs": partial(job_lines, names=names),
        "Storage": storage_lines,
        "Compliance": compliance_lines,
        "Access": partial(access_lines, names=names),
        "Logs": partial(_logs, names=names),
        "Alerts": partial(_alerts, names=names),
        "Network": partial(_network, names=names),
        "Runtimes": partial(_runtimes, names=names),
        "Delivery": lambda _: iter(()),
        "Objects": _every_field if fields else _edits,
        "By hand": duty_lines,
    }
    for title, describe in parts.items():
        if lines := (*describe(cluster), *fact_lines(cluster, title, names)):
            yield Section(title, lines)


def cluster_line(cluster: ClusterImpact) -> str:
    """Return a cluster with its numbers of objects, e.g. ``lab: 2 created, 14 changed``."""
    state = "" if cluster.change == "changed" else f" ({cluster.change})"
    numbers = counts(cluster.objects) or "no object changes"
    return f"{cluster.name}{state}: {numbers}"


def counts(changes: Iterable[ObjectChange]) -> str:
    """Return what happens to how many objects, e.g. ``2 created, 14 changed``; empty for none."""
    numbers = Counter(change.change for change in changes)
    return ", ".join(f"{numbers[word]} {word}" for word in MARKS if numbers[word])


def units_section(cluster: ClusterImpact) -> Iterator[Section]:
    """Yield one line for each sync unit with objects that differ; nothing if there is none."""
    units: defaultdict[str, list[ObjectChange]] = defaultdict(list)
    for change in cluster.objects:
        units[change.unit].append(change)
    lines = tuple(f"~ {unit}: {counts(changes)}" for unit, changes in sorted(units.items()))
    if lines:
        yield Section("Objects of each sync unit", lines)


def sentence(disruption: Disruption, cluster: str = "") -> str:
    """Return what happens to whom, and on which cluster if it is named, without its cause."""
    where = f" on {cluster}" if cluster else ""
    pool = f" of {disruption.pool}" if disruption.pool else ""
    nodes = f"{counted(disruption.nodes, 'node')}{pool}{where}"
    nodes += f", {disruption.pace}" if disruption.nodes > 1 and disruption.pace else ""
    teams = f"{few(disruption.teams) or 'no team'}{where}"
    return {
        Effect.RECREATES: f"recreates objects{where}",
        Effect.UNCOUNTS: f"takes running jobs of {teams} out of the quota",
        Effect.RECLAIMS: f"may evict jobs of {teams}",
        Effect.EVICTS: f"evicts jobs of {teams}",
        Effect.UNLOCKS: f"may drain or reboot {nodes}",
        Effect.DRAINS: f"drains {nodes}",
        Effect.REBOOTS: f"reboots {nodes}",
        Effect.DELETES: f"deletes {disruption.lost} of {teams}",
    }[disruption.effect]


def size_of(disruption: Disruption) -> str:
    """Return how much runs there at most: GPUs, or nodes where it has none."""
    if disruption.gpus:
        return f"at most {counted(disruption.gpus, 'running GPU')}"
    of_jobs = disruption.effect in {Effect.UNCOUNTS, Effect.RECLAIMS, Effect.EVICTS}
    pool = f" of {disruption.pool}" if disruption.pool else ""
    return f"on at most {counted(disruption.nodes, 'node')}{pool}" if of_jobs else ""


def _disruptions(cluster: ClusterImpact) -> Iterator[str]:
    told = ""
    for disruption in cluster.disruptions:
        amount = size_of(disruption)
        size = f"; {amount}" if amount else ""
        teams = f" of {few(disruption.teams)}" if disruption.gpus and disruption.pool else ""
        yield f"! {sentence(disruption)}{size}{teams}"
        yield f"  because: {disruption.cause}"
        consequence = f"{disruption.consequence} ({disruption.source})"
        yield f"  {'As above.' if consequence == told else consequence}"
        told = consequence


def _logs(cluster: ClusterImpact, names: Names) -> Iterator[str]:
    for log in cluster.logs:
        stated = f"are kept {counted(log.after, 'day')}" if log.after else "have no stated time"
        days = counted(log.before, "day")
        former = f"instead of {days}" if log.before else "and had no stated time"
        yield f"~ lines of {names(log.teams)} {stated} {former}"
    if cluster.logs:
        yield "  Nothing happens until the owner of the log store takes it from the README."
        if any(log.is_shorter for log in cluster.logs):
            yield "  Then older lines are deleted, and a revert does not bring them back."
    yield from _credentials(cluster.drops_credentials)


def _credentials(drops: bool | None) -> Iterator[str]:
    """Yield that lines with credentials are dropped from now on, or no more."""
    if drops is None:
        return
    edit, states = ("adds", "kept -> dropped") if drops else ("removes", "dropped -> kept")
    yield f"~ lines with credentials: {states}"
    yield f"  Nothing happens until the owner of the forwarder {edit} the filter `credentials`."


def _alerts(cluster: ClusterImpact, names: Names) -> Iterator[str]:
    changes: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for alert in cluster.alerts:
        changes[alert.before, alert.after].append(alert.alert)
    for (before, after), alerts in sorted(changes.items()):
        if before and after:
            yield f"~ {names(alerts)}: {before} -> {after}"
        else:
            number = counted(len(alerts), "alert")
            yield f"{'-' if before else '+'} {number} ({before or after}): {names(alerts)}"
    for waiting in cluster.waiting:
        limits = f"{format_seconds(waiting.before)} -> {format_seconds(waiting.after)}"
        yield f"~ a job of priority {waiting.priority} waits {limits} until an alert fires"


def _network(cluster: ClusterImpact, names: Names) -> Iterator[str]:
    for path in cluster.network:
        yield f"{'+' if path.opened else '-'} {names(path.namespaces)}: {path.path}"
    for each in cluster.addresses:
        addresses = f"addresses {each.before} -> {each.after}"
        yield f"~ {names(each.namespaces)}: {each.path}: {addresses}"


def _runtimes(cluster: ClusterImpact, names: Names) -> Iterator[str]:
    for runtime in cluster.runtimes:
        where = f" on {', '.join(runtime.nodes)}" if runtime.nodes else ""
        yield _runtime(runtime, runtime.runtime + where, names)
        for detail in runtime.details:
            yield f"  {detail}"
    if cluster.runtimes and any(map(_is_replaced, cluster.objects)):
        yield "  Jobs that wait for a runtime that goes must be submitted again under another name."
        yield "  New jobs with a team's copy of it are refused."


def _is_replaced(edit: ObjectChange) -> bool:
    """Return whether a runtime leaves the cluster, or another version takes its place."""
    return edit.identity.kind == "ClusterTrainingRuntime" and edit.change in {
        "deleted",
        "recreated",
    }


def _runtime(change: RuntimeChange, name: str, names: Names) -> str:
    """Return who may or may no longer use a runtime, or what happens to it for all."""
    spaces = names(change.spaces)
    if change.change == "added":
        return f"+ {name}: {spaces} may use it"
    if change.change == "retired":
        return f"- {name}: {spaces} may no longer use it"
    return f"~ {name}: {change.change} ({spaces})" if spaces else f"~ {name}: {change.change}"


def _edits(cluster: ClusterImpact) -> Iterator[str]:
    """Yield each object in one line, with others of the same edit; many different edits at once."""
    for (kind, change, scope, reason), group in groupby(same_edits(cluster.objects), _SORT):
        edits = list(group)
        together = [edits] if len(edits) > _FEW_EDITS else zip(edits)
        for some in together:
            objects = sorted(chain.from_iterable(edit.objects for edit in some))
            what = f"{_objects(kind, objects)} ({change}, {scope}{_because(reason)})"
            yield from _edit(f"{MARKS[change]} {what}", some)


def _edit(what: str, edits: Iterable[Edit]) -> Iterator[str]:
    """Yield what is edited, with the fields if they are few."""
    shown = {}
    for edit in edits:
        for field in edit.fields:
            shown[as_text(field)] = f"{field.path} {field.display}"
    if len(shown) > _FEW_EDITS:
        yield f"{what}: {len(shown)} fields, which `--fields` shows"
    else:
        yield from with_parts(what, list(shown.values()))


def _objects(kind: str, objects: Sequence[Identity]) -> str:
    names = few(map(name_of, objects))
    return f"{len(objects)} {kind}: {names}" if len(objects) > 1 else f"{kind} {names}"


def _every_field(cluster: ClusterImpact) -> Iterator[str]:
    for edit in cluster.objects:
        change = f"{edit.change}, {edit.scope}{_because(edit.reason)}"
        yield f"{MARKS[edit.change]} {edit.identity.kind} {name_of(edit.identity)} ({change})"
        for field in edit.fields:
            yield f"  {field.path}: {field.whole}"


def _because(reason: str) -> str:
    return f": {reason}" if reason else ""


def name_of(identity: Identity) -> str:
    """Return an object's name, with its namespace where it has one."""
    return f"{identity.namespace}/{identity.name}" if identity.namespace else identity.name
