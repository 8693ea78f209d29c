"""Reports to test, and a reader of their HTML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser

from tests.conftest import REPOSITORY
from trainyard.capacity.measure import measure
from trainyard.generation.generate import generate
from trainyard.report.content import Change, Cluster, Content, Finding, Group, Waiver

EMPTY = frozenset({"meta", "link", "br", "hr", "img", "input"})


@dataclass
class Tag:
    """An element with its attributes, what is in it, and where it is."""

    name: str
    attributes: dict[str, str]
    parents: tuple[str, ...]
    text: str = ""


@dataclass
class Page(HTMLParser):
    """The elements of a page, in their order."""

    tags: list[Tag] = field(default_factory=list)
    open: list[Tag] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        parents = tuple(each.name for each in self.open)
        tag = Tag(name, {key: value or "" for key, value in attributes}, parents)
        self.tags.append(tag)
        if name not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, name: str) -> None:
        assert self.open.pop().name == name

    def handle_data(self, data: str) -> None:
        for each in self.open:
            each.text += data

    def all(self, name: str) -> list[Tag]:
        """Return the elements of a name."""
        return [tag for tag in self.tags if tag.name == name]

    def values(self, attribute: str) -> Iterator[str]:
        """Yield every value of an attribute."""
        return (tag.attributes[attribute] for tag in self.tags if attribute in tag.attributes)


def parse(page: bytes) -> Page:
    """Return the elements of a page, which must all be closed in their order."""
    parsed = Page()
    parsed.feed(page.decode("utf-8"))
    parsed.close()
    assert not parsed.open
    return parsed


FINDING = Finding(
    rule="fabric/odd-mtu",
    severity="warning",
    message="fabric `ib` has an odd MTU",
    places=("profiles/clusters/prod-east.yaml:8:5",),
    consequence="Packets are dropped.",
    hint="Set `mtu`.",
    notes=("the card takes 4096",),
)
WAIVER = Waiver("fabric/odd-mtu", "profiles/x.yaml", "It works", "ml-platform", "2027-01-31")

CHANGE = Change(
    kind="bad",
    origin="From commit 0123456789 of 2026-11-20 by Ada to the work tree on commit 9876543210.",
    headline="drains 3 nodes of xe9680-h200, one after the other",
    totals="objects: 16 changed",
    groups=(
        Group(
            "lab: 16 changed",
            (
                ("Disruption", ("! drains 3 nodes", "  because: MTU of `roce` 9000 -> 4200")),
                ("Network", ("+ team-nlp: egress to 203.0.113.0/28", "- team-nlp: nothing")),
            ),
        ),
    ),
    notes=("compared: commit 0123456789 with the work tree",),
)


@cache
def content() -> Content:
    """Return the report of this repository's profiles, which no program has verified."""
    generation = generate(REPOSITORY / "profiles", "../profiles/components")
    platform = generation.checked.platform
    assert platform
    clusters = tuple(
        Cluster(site, measure(site, platform.allocations), generation.manifests[site.name], None)
        for site in platform.sites
    )
    return Content(
        version="1.2.3",
        title="https://git.example.com/platform.git",
        profiles=27,
        findings=(FINDING,),
        waivers=(WAIVER,),
        clusters=clusters,
        change=None,
        unverified="kustomize 5 is needed, but it was not found",
    )
