"""Draft all profiles of a cluster from what a dump has of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.adoption import cluster as cluster_file
from trainyard.adoption import listed, storage, table
from trainyard.adoption.access import access
from trainyard.adoption.access import remarks as access_remarks
from trainyard.adoption.counted import newly_counted
from trainyard.adoption.fabrics import Drafted, fabrics, functions_line
from trainyard.adoption.fabrics import remarks as fabric_remarks
from trainyard.adoption.hardware import drafted
from trainyard.adoption.model import Adoption, Choice, Crew, Kind, Mark, Pool, Remark, Share
from trainyard.adoption.nodes import grouped
from trainyard.adoption.objects import adopt_lines, stage_lines
from trainyard.adoption.queues import crews, dangling, unused
from trainyard.adoption.quota import Site, is_unlimited, mixed, parents_of, shares
from trainyard.adoption.team import (
    access_lines,
    own_names,
    quota_lines,
    space_lines,
    storage_lines,
    team_lines,
)
from trainyard.adoption.verbs import lost_verbs
from trainyard.adoption.versions import installed, nearest, versions
from trainyard.adoption.wording import choose, fit, said
from trainyard.diagnostics import TreeError
from trainyard.model.facts import Facts, place_of
from trainyard.model.quantity import counted
from trainyard.model.readable import COHORTS
from trainyard.rules.shape.empty_file import RULE as EMPTY_FILE
from trainyard.yaml_io.choices import choices
from trainyard.yaml_io.reader import read
from trainyard.yaml_io.source import Profiles


@dataclass(frozen=True, slots=True)
class Request:
    """What is drafted.

    Args:
        cluster: name of the profile.
        release: that the cluster runs; empty where somebody chooses it later.
        profiles: of the repository, with the presets and releases that are shipped.
        kueue: Kueue's configuration; empty where the dump has none.
        settings: content of `profiles/trainyard.yaml` if there is none yet.
        unread: why files of the dump could not be read.
    """

    cluster: str
    release: str
    profiles: Profiles
    kueue: Mapping[str, Any]
    settings: bytes = b""
    unread: tuple[str, ...] = ()


def draft(request: Request, facts: Facts) -> Adoption:
    """Return the drafts of a cluster.

    Raises:
        TreeError: the dump has no node, or an amount in it is not a quantity.
    """
    nodes = grouped(facts)
    usable = [kind for kind in nodes.kinds if not kind.refusal]
    pools = {kind.name: drafted(kind, facts, request.profiles.presets) for kind in usable}
    parents = parents_of(facts.of(COHORTS))
    site = Site(pools, crews(facts), nodes.flavors, parents)
    found = tuple(shares(site))
    networks = fabrics(facts, usable)
    claims, lost = storage.adopted(site.crews, facts)
    parts = _Parts(request, facts, site, found, networks, claims)
    files = {
        path: _content(path, lines)
        for path, lines in _files(parts, [*nodes.open, *_refused(nodes.kinds)])
    }
    if request.settings:
        files["profiles/trainyard.yaml"] = request.settings
    remarks = {*nodes.remarks, *lost, *storage.remarks(claims), *_found(parts)}
    remarks |= {*_refusals(nodes.kinds)}
    return Adoption(
        cluster=request.cluster,
        files=dict(sorted(files.items())),
        rows=tuple(table.rows(site, found)),
        sums=tuple(table.sums(site, found, facts)),
        choices=tuple(choices_in(files)),
        remarks=tuple(sorted(remarks, key=lambda each: (each.mark, each.part, each.text))),
        absent=tuple(each.resource for each in facts.unread),
    )


def _refusals(kinds: Iterable[Kind]) -> Iterator[Remark]:
    for kind in kinds:
        if kind.refusal:
            yield Remark(Mark.REFUSED, f"pool {kind.name}", kind.refusal)


def choices_in(files: Mapping[str, bytes]) -> Iterator[Choice]:
    """Yield the choices that are open in files."""
    for path, content in sorted(files.items()):
        yield from (Choice(path, line, text) for line, _, text in choices(content))


@dataclass(frozen=True, slots=True)
class _Parts:
    """What files are written from."""

    request: Request
    facts: Facts
    site: Site
    shares: Sequence[Share]
    fabrics: Sequence[Drafted]
    claims: Sequence[storage.Adopted]


def _files(parts: _Parts, open_: Sequence[str]) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield the path and the lines of each file."""
    request, site = parts.request, parts.site
    hardware = _hardware_names(request, site.pools.values())
    for pool in site.pools.values():
        yield f"profiles/hardware/{hardware[pool.name]}.yaml", _hardware(parts, pool)
    cohorts = cluster_file.cohort_names(parts.facts)
    present: list[str] = []
    for crew in site.crews:
        own = [share for share in parts.shares if share.team == crew.name]
        if crew.name in request.profiles.teams:
            lines = [*own_names(crew, site), *quota_lines(request.cluster, site, crew, own)]
            present += _beside(crew, lines)
        else:
            yield f"profiles/teams/{crew.name}.yaml", _team(parts, crew, own, cohorts)
    lines = [*_cluster(parts, hardware, cohorts, open_), *present]
    yield f"profiles/clusters/{request.cluster}.yaml", lines


def _team(
    parts: _Parts, crew: Crew, own: Sequence[Share], cohorts: Mapping[str, str]
) -> Iterator[str]:
    yield from team_lines(parts.request.cluster, parts.site, crew, own, cohorts)
    yield from access_lines(crew, access(crew, parts.facts))
    yield from storage_lines(crew, parts.claims)
    yield from space_lines(crew, parts.site)
    yield from stage_lines()


def _beside(crew: Crew, lines: Iterable[str]) -> Iterator[str]:
    """Yield what a team's profile that is there already gets by hand."""
    yield choose(f"team {crew.name} is there already: add to profiles/teams/{crew.name}.yaml:")
    yield from (f"# {line}" for line in lines)


def _hardware_names(request: Request, pools: Iterable[Pool]) -> dict[str, str]:
    """Return the name of each pool's hardware profile: its own, unless another one has it."""
    taken = {*request.profiles.hardware}
    found = {}
    for pool in pools:
        is_free = pool.name not in taken
        name = pool.name if is_free else fit(f"{request.cluster}-{pool.name}", "nodes", taken)
        taken.add(name)
        found[pool.name] = name
    return found


def _hardware(parts: _Parts, pool: Pool) -> Iterator[str]:
    first = place_of(pool.kind.nodes[0])[1]
    yield f"# Nodes of pool {pool.name}, as `trainyard import` found {first}."
    yield from pool.lines
    for fabric in parts.fabrics:
        if pool.name in fabric.functions:
            yield functions_line(fabric.functions[pool.name], pool.name)


def _cluster(
    parts: _Parts, hardware: Mapping[str, str], cohorts: Mapping[str, str], open_: Sequence[str]
) -> Iterator[str]:
    request, facts = parts.request, parts.facts
    runs, releases = versions(facts), request.profiles.releases
    release = request.release
    differ = installed(runs, releases[release]) if release in releases else {}
    yield f"# Cluster {request.cluster}, as `trainyard import` found it."
    yield from (choose(f"hand it in again: {problem}") for problem in request.unread)
    yield said("state: held", "no queue of a team admits a job until the team moves")
    yield from cluster_file.release_lines(release, nearest(runs, releases), runs, differ)
    problems = [*open_, *mixed(parts.shares), *_overcommitted(parts)]
    problems += _unused(facts)
    yield from cluster_file.pool_lines(parts.site, hardware, parts.fabrics, problems)
    if parts.fabrics:
        yield "fabrics:"
    for fabric in parts.fabrics:
        yield from fabric.lines
    used = {pool.kind.topology for pool in parts.site.pools.values()} - {""}
    yield from cluster_file.topology_lines(facts, used)
    yield from cluster_file.cohort_lines(facts, cohorts)
    yield from cluster_file.sharing_lines(facts, request.kueue)
    yield from cluster_file.priority_lines(facts)
    yield from cluster_file.storage_lines(parts.claims)
    daemons = listed.daemon_namespaces(facts, parts.site.pools.values(), parts.site.crews)
    yield from cluster_file.closing_lines(parts.fabrics, parts.claims, daemons)
    features = releases[release].value["features"] if release in releases else None
    yield from adopt_lines(facts, parts.site, parts.claims, features)


def _refused(kinds: Collection[Kind]) -> Iterator[str]:
    """Yield the nodes that no profile can have: somebody decides what becomes of them."""
    for kind in kinds:
        if kind.refusal:
            nodes = f"{counted(len(kind.nodes), 'node')} of {kind.name}"
            yield f"pools: {nodes}, such as {place_of(kind.nodes[0])[1]}: {kind.refusal}"


def _overcommitted(parts: _Parts) -> Iterator[str]:
    """Yield the pools of which teams own more nodes than it has."""
    for pool in parts.site.pools.values():
        own = sum(share.nodes for share in parts.shares if share.pool == pool.name)
        if own > pool.count:
            yield f"pools: teams own {float(own):g} nodes of {pool.name}, which has {pool.count}"


def _unused(facts: Facts) -> Iterator[str]:
    for queue, cells in unused(facts):
        if any(cell.nominal for cell in cells):
            yield f"quota: ClusterQueue {queue} has quota and no LocalQueue: which team gets it"


def _found(parts: _Parts) -> Iterator[Remark]:
    """Yield what becomes of parts of the site."""
    facts, site = parts.facts, parts.site
    yield from fabric_remarks(facts)
    yield from access_remarks(site.crews, facts)
    yield from lost_verbs(site.crews, facts)
    yield from listed.remarks(facts, site.crews)
    yield from listed.configuration(parts.request.kueue)
    yield from dangling(facts)
    yield from _limits(parts)
    yield from newly_counted(site, parts.shares, parts.fabrics, facts)
    for pool in site.pools.values():
        cordoned = [
            place_of(node)[1]
            for node in pool.kind.nodes
            if node.get("spec", {}).get("unschedulable")
        ]
        if cordoned:
            why = f"{', '.join(cordoned)} cordoned: list them under `maintenance`"
            yield Remark(Mark.CHANGED, f"pool {pool.name}", why)
        for flavor in pool.kind.flavors:
            if flavor != pool.name:
                yield Remark(
                    Mark.CHANGED, f"ResourceFlavor {flavor}", f"pool {pool.name} takes its place"
                )


def _limits(parts: _Parts) -> Iterator[Remark]:
    """Yield borrowing without a limit, which becomes all that the cohort lends."""
    for share in parts.shares:
        crew = next(each for each in parts.site.crews if each.name == share.team)
        pool = parts.site.pools[share.pool]
        cells = [each for each in parts.site.cells(crew, pool) if each.resource == pool.counted]
        if share.borrow and is_unlimited(crew, cells):
            limit = share.unit.counted(share.borrow)
            why = f"borrowing without a limit on {pool.name}: {limit}, all that the others lend"
            yield Remark(Mark.CHANGED, f"team {crew.name}", why)


def _content(path: str, lines: Iterable[str]) -> bytes:
    """Return the content of a profile, which every reader takes for the same.

    Raises:
        TreeError: a name in it is none that a profile may have, such as a credential.
    """
    content = "".join(f"{line}\n" for line in lines).encode()
    _, problems = read(path, content)
    # A draft may be nothing but choices.
    found = [each for each in problems if each.rule != EMPTY_FILE.id]
    if found:
        raise TreeError(f"the draft of {path} can't be written: {found[0].message}")
    return content
