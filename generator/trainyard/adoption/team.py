"""Write the draft of a team."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from trainyard.adoption import queue_names
from trainyard.adoption.access import Access
from trainyard.adoption.amounts import shown
from trainyard.adoption.model import Cell, Crew, Share
from trainyard.adoption.quota import Site, cohorts_of, weight_of
from trainyard.adoption.storage import Adopted
from trainyard.adoption.wording import choose, quoted, said
from trainyard.model import names
from trainyard.model.facts import Facts, labels_of, place_of
from trainyard.model.readable import NAMESPACES
from trainyard.yaml_io.scalars import inline

_COST = re.compile("cost-?cent(re|er)", re.IGNORECASE)
"""In the key of a label that names a cost center."""


def team_lines(
    cluster: str,
    site: Site,
    crew: Crew,
    shares: Sequence[Share],
    cohort_names: Mapping[str, str],
) -> Iterator[str]:
    """Yield the lines of a team's profile before its groups and storage.

    Args:
        cluster: its name.
        site: what is drafted.
        crew: the team.
        shares: its own.
        cohort_names: of cohorts, by the name that the site has.
    """
    where = ", ".join(crew.namespaces)
    yield f"# Team {crew.name}, as `trainyard import` found it in namespace {quoted(where)}."
    yield from own_names(crew, site)
    yield choose("contact: whom to call, an address of mail")
    yield choose("runtimes: names of those that the team uses")
    if crew.held:
        held = ", ".join(place_of(body)[1] for body in crew.queues)
        yield said("state: held", f"spec.stopPolicy of ClusterQueue {held}")
    cohorts = cohorts_of(crew)
    if len(cohorts) > 1:
        yield choose(f"cohort: the team's queues are in {', '.join(cohorts)}; a team is in one")
    elif cohorts:
        source = f"cohort of ClusterQueue {place_of(crew.queues[0])[1]}"
        yield said(f"cohort: {inline(cohort_names[cohorts[0]])}", source)
        yield from _weight(crew)
    yield from quota_lines(cluster, site, crew, shares)


def own_names(crew: Crew, site: Site) -> Iterator[str]:
    """Yield the names of the team's own namespace and of queues in it that it keeps."""
    namespace = crew.namespaces[0]
    if named := _named(crew, namespace):
        yield said(named, f"namespace {namespace}")
    if queues := queue_names.stated(crew, site, namespace):
        yield said(queues, f"LocalQueues in {namespace}")
    for each in crew.namespaces:
        yield from queue_names.undecided(crew, site, each)


def _named(crew: Crew, namespace: str) -> str:
    """Return the key that keeps the name of a namespace; empty where it would get that anyway."""
    usual, kept = names.namespace(crew.name, crew.spaces[namespace]), crew.kept(namespace)
    return "" if kept == usual else f"namespace: {inline(kept)}"


def _weight(crew: Crew) -> Iterator[str]:
    weight, queues = weight_of(crew), ", ".join(place_of(body)[1] for body in crew.queues)
    if weight is None:
        yield choose(
            f"weight: that of {queues} is not a whole number from 1 to 1000, or they differ"
        )
    elif weight > 1:
        yield said(f"weight: {weight}", f"fairSharing of ClusterQueue {queues}")


def quota_lines(cluster: str, site: Site, crew: Crew, shares: Sequence[Share]) -> Iterator[str]:
    """Yield the quota, with what is left to choose at its place.

    Args:
        cluster: its name.
        site: what is drafted.
        crew: the team.
        shares: its own.
    """
    open_ = [*_open(site, crew, shares)]
    stated = [*_stated(site, crew, shares)]
    if not stated:
        open_ = open_ or ["its own nodes of a pool, or what it may borrow"]
        yield from (choose(f"quota.{cluster}: {text}") for text in open_)
        return
    yield from ("quota:", f"  {inline(cluster)}:", *stated)
    yield from (choose(text, "    ") for text in open_)


def _stated(site: Site, crew: Crew, shares: Sequence[Share]) -> Iterator[str]:
    """Yield the quota of each pool on which a team owns or borrows something."""
    for share in shares:
        if share.own is not None and (share.own or share.borrow):
            queues = sorted({cell.queue for cell in site.cells(crew, site.pools[share.pool])})
            yield said(f"    {inline(share.pool)}: {{{_value(share)}}}", ", ".join(queues))


def _open(site: Site, crew: Crew, shares: Sequence[Share]) -> Iterator[str]:
    """Yield what is left to choose of a quota."""
    yield from (f"{share.pool}: {_asked(share)}" for share in shares if share.open)
    lost = (cell for cell in crew.cells if cell.nominal and site.pool_of(cell) is None)
    yield from dict.fromkeys(_lost(site, cell) for cell in lost)


def _asked(share: Share) -> str:
    """Return what is left to choose of a quota, with what is known of it."""
    text = "; ".join(share.open.values())
    known = _limits(share)
    return f"{text}; with {known}" if share.own is None and known else text


def _lost(site: Site, cell: Cell) -> str:
    pools = site.flavors.get(cell.flavor, ()) if cell.flavor else list(site.pools)
    on = f"flavor {cell.flavor}" if cell.flavor else "any node"
    amount = f"{cell.queue} has {shown(cell.resource, cell.nominal)} {cell.resource} on {on}"
    if len(pools) > 1:
        return f"{amount}: pool {' or '.join(pools)}"
    return f"{amount}, and no pool is drafted for it"


def _value(share: Share) -> str:
    return ", ".join(filter(None, [f"{share.unit.value}: {share.own}", _limits(share)]))


def _limits(share: Share) -> str:
    parts = [f"borrow: {share.borrow}"] if share.borrow else []
    if share.lend is not None:
        parts.append(f"lend: {share.lend or 'none'}")
    return ", ".join(parts)


def access_lines(crew: Crew, access: Access) -> Iterator[str]:
    """Yield the groups and accounts of a team."""
    if access.groups:
        roles = (
            f"{role}: [{', '.join(map(inline, groups))}]" for role, groups in access.groups.items()
        )
        source = _bound(crew, access)
        yield said(f"groups: {{{', '.join(roles)}}}", source)
    else:
        yield choose(f"groups: no RoleBinding in {', '.join(crew.namespaces)} gives a group a role")
    if access.accounts:
        yield "serviceAccounts:"
        source = f"RoleBindings in {crew.namespaces[0]}"
        for name, role in sorted(access.accounts.items()):
            yield said(f"  {inline(name)}: {{role: {role}}}", source)


def _bound(crew: Crew, access: Access) -> str:
    """Return the namespaces that have RoleBindings of all groups, and those with new rights."""
    bound = [each for each in crew.namespaces if each not in access.without]
    source = f"RoleBindings in {', '.join(bound or crew.namespaces)}"
    return f"{source}; new rights in {', '.join(access.without)}" if access.without else source


def cost_lines(crew: Crew, facts: Facts) -> Iterator[str]:
    """Yield the cost center that labels of its namespaces name; the first sync may delete them."""
    found: dict[str, str] = {}
    for body in sorted(facts.of(NAMESPACES), key=place_of):
        for key, value in labels_of(body).items() if place_of(body)[1] in crew.namespaces else ():
            if _COST.search(str(key)):
                found.setdefault(str(value), f"label {key} of namespace {place_of(body)[1]}")
    yield from (choose(f"costCenter: {inline(value)}; {why}") for value, why in found.items())


def storage_lines(crew: Crew, claims: Sequence[Adopted]) -> Iterator[str]:
    """Yield the claims that a team keeps."""
    own = [each for each in claims if each.team == crew.name]
    stated = [each for each in own if each.stays or not each.meets]
    if stated:
        yield "storage:"
    for each in stated:
        source = f"PersistentVolumeClaim {crew.namespaces[0]}/{each.claim}"
        yield said(f"  {_claim(each)}", source)
    yield from _met(crew, own)


def _met(crew: Crew, claims: Sequence[Adopted]) -> Iterator[str]:
    """Yield the choice about claims that are where the tree's would be, and differ."""
    met = [each for each in claims if each.meets and not each.stays]
    if met:
        values = ", ".join(map(_claim, met))
        classes = ", ".join(dict.fromkeys(each.meets for each in met))
        yield choose(
            f"storage: {{{values}}}, after the claims of these names in {crew.namespaces[0]} are "
            f"gone: the tree's differ in class ({classes}), access modes, volume mode, size, the "
            "volume that they name, or have no selector or limits, and nobody can change these"
        )


def _claim(claim: Adopted) -> str:
    if claim.stays:
        return f"{inline(claim.claim)}: {claim.size}"
    return f"{inline(claim.claim)}: {{volume: {inline(claim.volume)}, size: {claim.size}}}"


def space_lines(crew: Crew, site: Site) -> Iterator[str]:
    """Yield the further namespaces of a team."""
    if len(crew.spaces) > 1:
        yield "spaces:"
    for namespace, name in crew.spaces.items():
        if name:
            fields = [_named(crew, namespace), queue_names.stated(crew, site, namespace)]
            value = f"{{{', '.join(filter(None, fields))}}}"
            yield said(f"  {inline(name)}: {value}", f"namespace {namespace}, on the same queues")
