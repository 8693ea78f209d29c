"""Figures of the reference architectures, computed from their profiles for their pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from tests.pages import ROOT
from tests.rules.cases import TODAY
from trainyard.capacity.figures import Capacity, PoolCapacity
from trainyard.capacity.measure import measure
from trainyard.generation.generate import generate
from trainyard.model.quantity import counted

NAMES = ("two-nodes", "eight-nodes", "sixteen-nodes")
PAGE = ROOT / "docs" / "explanation" / "reference-architectures.md"
_FIGURES = re.compile(r"(?<=<!-- figures -->\n).*(?=<!-- end of figures -->)", re.DOTALL)
_UNSYNCED = ("samples", "node-files", "operators")
_ROW = 5  # boxes of a picture side by side


@dataclass(frozen=True, slots=True)
class Architecture:
    """An example of one cluster.

    Args:
        lines: of its profiles.
        objects: of its tree.
    """

    name: str
    release: str
    teams: int
    files: int
    lines: int
    objects: int
    capacity: Capacity

    @property
    def pools(self) -> tuple[PoolCapacity, ...]:
        """Its pools, those with GPUs first."""
        return tuple(sorted(self.capacity.pools, key=lambda pool: (-pool.gpus, pool.name)))


def read_architecture(name: str) -> Architecture:
    """Return the figures of an example."""
    profiles = ROOT / "examples" / name / "profiles"
    generation = generate(profiles, "../profiles/components", today=TODAY)
    platform = generation.checked.platform
    assert platform
    (site,) = platform.sites
    files = sorted(profiles.rglob("*.yaml"))
    return Architecture(
        name=name,
        release=site.cluster.release.name,
        teams=len(site.tenants),
        files=len(files),
        lines=sum(len(path.read_text("utf-8").splitlines()) for path in files),
        objects=sum(each.unit not in _UNSYNCED for each in generation.manifests[site.name]),
        capacity=measure(site, platform.allocations),
    )


def table(architectures: Sequence[Architecture]) -> str:
    """Return a table with a column for each architecture."""
    head = ["", *(each.name.replace("-", " ") for each in architectures)]
    columns = [dict(_figures(each)) for each in architectures]
    rows = [head, ["---"] * len(head)]
    rows += [[label, *(column[label] for column in columns)] for label in columns[0]]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _figures(each: Architecture) -> Iterator[tuple[str, str]]:
    (fabric,) = each.capacity.fabrics
    gpus = sum(pool.gpus * pool.nodes for pool in each.pools)
    yield "release", f"`{each.release}`"
    yield "nodes", ", ".join(f"{pool.nodes} `{pool.name}`" for pool in each.pools)
    yield "GPUs", str(gpus)
    yield "nodes in reserve", ", ".join(f"{pool.reserve} `{pool.name}`" for pool in each.pools)
    yield "quota without a node when one fails", _shortfall(each.pools)
    yield "teams", str(each.teams)
    yield "largest job on a team's own nodes", _largest(each, borrowed=False)
    yield "largest job with borrowed nodes", _largest(each, borrowed=True)
    yield "partitions or VLANs given", f"{fabric.segments_given} of {fabric.segments}"
    blocks = f"{fabric.blocks_given} of {fabric.blocks} (/{fabric.prefix})"
    yield "address blocks given", blocks
    (per_rail,) = {team.per_rail for team in fabric.teams}
    yield "addresses of a team", f"{per_rail} on each of {fabric.rails} rails"
    yield "teams that can still join the fabric", str(fabric.head_room)
    yield "profiles", f"{each.lines} lines in {each.files} files"
    yield "tree", f"{each.objects} objects"


def _shortfall(pools: Sequence[PoolCapacity]) -> str:
    """Return the quota that has no node after a node of a pool has failed."""
    short = [pool for pool in pools if pool.owned > pool.nodes - 1]
    found = (
        f"{counted(int(pool.owned) - pool.nodes + 1, 'node')} of `{pool.name}`" for pool in short
    )
    return ", ".join(found) or "none"


def _largest(each: Architecture, *, borrowed: bool) -> str:
    gpus, pods = max(
        (int(job.nodes * pool.gpus), job.pods)
        for pool in each.pools
        if pool.gpus
        for part in pool.parts
        for job in (part.largest_job if borrowed else part.own_job,)
    )
    return f"{counted(pods, 'node')}, {gpus} GPUs"


def picture(each: Architecture) -> str:
    """Return a box for each node with the team that owns it."""
    return "```text\n" + "\n".join(line for pool in each.pools for line in _pool(pool)) + "\n```\n"


def _pool(pool: PoolCapacity) -> Iterator[str]:
    owners = [part.team for part in pool.parts for _ in range(int(part.own))]
    owners += ["-"] * int(max(pool.head_room, Fraction(0))) + ["(reserve)"] * pool.reserve
    width = max(map(len, owners))
    kind = f"{pool.gpus} GPUs each" if pool.gpus else "no GPU"
    yield f"{pool.name}: {counted(pool.nodes, 'node')}, {kind}"
    for first in range(0, len(owners), _ROW):
        row = owners[first : first + _ROW]
        edge = f"  +{'+'.join('-' * (width + 2) for _ in row)}+"
        yield from (edge, f"  |{'|'.join(f' {owner:^{width}} ' for owner in row)}|")
    yield edge


def with_figures(page: Path, figures: str) -> str:
    """Return a page with its part between the marks replaced."""
    text, replaced = _FIGURES.subn(lambda _: f"\n{figures}\n", page.read_text("utf-8"))
    assert replaced == 1, f"{page} has no marks"
    return text
