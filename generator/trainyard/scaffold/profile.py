"""Write the profile of a new team."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from string import Template

from trainyard.model.cluster import Cluster
from trainyard.model.named import by_name
from trainyard.model.pool import Pool
from trainyard.scaffold.template import SCAFFOLD
from trainyard.yaml_io.reader import read
from trainyard.yaml_io.scalars import inline


def profile_path(name: str) -> str:
    """Return the path of a team's profile below the profiles."""
    return f"teams/{name}.yaml"


def team_profile(
    name: str, quota: Mapping[str, int], cluster: Cluster, pool: Pool, runtimes: Sequence[str]
) -> bytes:
    """Return a team's profile; a line whose value the cluster lacks is left out.

    Args:
        name: of the team.
        quota: its number of the pool, by unit.
        cluster: that the quota is on.
        pool: that the quota is of.
        runtimes: names of those that the team uses.
    """
    values = {
        "name": name,
        "domain": cluster.settings.domain,
        "runtimes": ", ".join(map(inline, runtimes)),
        "cohort": next(map(inline, by_name(cluster.cohorts)), ""),
        "cluster": inline(cluster.name),
        "pool": inline(pool.name),
        "quota": "".join(f"{unit}: {number}" for unit, number in quota.items()),
        "storage": next((inline(kept.name) for kept in cluster.storage if kept.kind == "nfs"), ""),
    }
    text = "".join(_lines(values))
    source, found = read("", text.encode())
    assert not found, found
    assert source.value["quota"] == {cluster.name: {pool.name: quota}}
    return text.encode()


def _lines(values: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of the template whose values are all there."""
    template = (SCAFFOLD / "team.yaml").read_text(encoding="utf-8")
    for text in template.splitlines(keepends=True):
        line = Template(text)
        if all(values[name] for name in line.get_identifiers()):
            yield line.substitute(values)
