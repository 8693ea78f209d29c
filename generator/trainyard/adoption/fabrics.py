"""Draft fabrics from the SR-IOV policies and networks of a site."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from trainyard.adoption.model import Kind, Mark, Remark
from trainyard.adoption.wording import choose, said
from trainyard.model.facts import Body, Facts, labels_of, place_of
from trainyard.model.link import LINKS, ROCE, Link
from trainyard.model.lookup import mapping, text, texts
from trainyard.model.readable import NETWORKS, NODE_POLICIES
from trainyard.yaml_io.scalars import inline

_NAMES = {"infiniband": "ib", "roce": "roce"}
_BY_TYPE = {link.sriov_type: link for link in LINKS.values()}
_PORTS = ("pfNames", "rootDevices")
"""Selectors of single ports; those of vendor and device select every port of a card."""


@dataclass(frozen=True, slots=True)
class Drafted:
    """A fabric, with the pools whose nodes are on it.

    Args:
        lines: of the cluster's profile.
        functions: virtual functions of a port, by pool.
        needs: objects of others that a cluster with it declares.
    """

    name: str
    pools: tuple[str, ...]
    lines: tuple[str, ...]
    functions: Mapping[str, int]
    needs: tuple[str, ...]


def fabrics(facts: Facts, kinds: Sequence[Kind]) -> tuple[Drafted, ...]:
    """Return the fabrics that the site's policies make, by link."""
    policies = sorted(facts.of(NODE_POLICIES), key=place_of)
    found = []
    for link in LINKS.values():
        own = [body for body in policies if _BY_TYPE.get(_type(body)) is link]
        pools = tuple(kind.name for kind in kinds if any(_selects(body, kind) for body in own))
        if pools:
            found.append(_drafted(link, pools, own, facts, kinds))
    return tuple(found)


def remarks(facts: Facts) -> Iterator[Remark]:
    """Yield the policies and networks that have no counterpart."""
    for body in sorted(facts.of(NODE_POLICIES), key=place_of):
        part = f"SriovNetworkNodePolicy {place_of(body)[1]}"
        if _type(body) not in _BY_TYPE:
            yield Remark(Mark.REFUSED, part, "it states no linkType: eth or ib")
        selector = mapping(dict(body), "spec", "nicSelector")
        ports = [port for key in _PORTS for port in texts(selector, key)]
        if len(ports) != 1:
            resource = text(body, "spec", "resourceName")
            why = f"{resource} is one resource for several ports: each rail has its own"
            yield Remark(Mark.REFUSED, part, why)
    for body in sorted(facts.of(NETWORKS), key=place_of):
        vlan = mapping(dict(body), "spec").get("vlan", 0)
        if not vlan:
            part = f"SriovNetwork {place_of(body)[1]}"
            yield Remark(Mark.REFUSED, part, "VLAN 0: all teams are on one network")


def _type(body: Body) -> str:
    return text(body, "spec", "linkType").lower()


def _selects(policy: Body, kind: Kind) -> bool:
    labels = mapping(dict(policy), "spec", "nodeSelector").items()
    return all(labels <= labels_of(node).items() for node in kind.nodes)


def _drafted(
    link: Link,
    pools: tuple[str, ...],
    policies: Sequence[Body],
    facts: Facts,
    kinds: Sequence[Kind],
) -> Drafted:
    name = _NAMES[link.name]
    functions = {}
    for kind in kinds:
        counts = _numbers("numVfs", [body for body in policies if _selects(body, kind)])
        if counts:
            functions[kind.name] = counts[-1]
    return Drafted(
        name,
        pools,
        tuple(_lines(link, name, policies, facts)),
        functions,
        tuple(f"{kind}/{name}" for kind in link.external),
    )


def _lines(link: Link, name: str, policies: Sequence[Body], facts: Facts) -> Iterator[str]:
    named = ", ".join(place_of(body)[1] for body in policies[:3])
    source = f"spec.linkType of SriovNetworkNodePolicy {named}"
    yield f"  {name}:"
    yield said(f"    link: {link.name}", source)
    mtus = _numbers("mtu", policies)
    if len(mtus) == 1:
        yield said(f"    mtu: {mtus[0]}", f"spec.mtu of {named}")
    elif mtus:
        yield choose(f"mtu: the policies have {', '.join(map(str, mtus))}", "    ")
    used = _used(facts) if link is ROCE else ""
    yield choose(f"{link.ranges}: a range for teams{used}", "    ")
    yield choose("addresses: an IPv4 range for teams that nothing else has", "    ")


def _used(facts: Facts) -> str:
    """Return the VLANs that networks have, which a range for teams leaves out."""
    used = _numbers("vlan", facts.of(NETWORKS))
    return f" without those in use: {', '.join(map(str, used))}" if used else ""


def _numbers(key: str, bodies: Sequence[Body]) -> list[int]:
    """Return the numbers that objects have in their spec, without 0."""
    found = (mapping(dict(body), "spec").get(key) for body in bodies)
    return sorted({number for number in found if isinstance(number, int) and number})


def functions_line(functions: int, pool: str) -> str:
    """Return the line of a hardware profile with the virtual functions of a rail."""
    value = f"nic: {{virtualFunctions: {functions}}}"
    return said(value, f"spec.numVfs of the policies that select pool {inline(pool)}")
