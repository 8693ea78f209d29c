"""Write the profile of a new team."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from string import Template

from trainyard.model.cluster import Cluster
from trainyard.model.named import by_name
from trainyard.model.pool import Pool
from trainyard.scaffold.team_request import NONE, TeamRequest
from trainyard.scaffold.template import SCAFFOLD
from trainyard.yaml_io.reader import read
from trainyard.yaml_io.scalars import double_quoted, inline


def profile_path(name: str) -> str:
    """Return the path of a team's profile below the profiles."""
    return f"teams/{name}.yaml"


def team_profile(
    request: TeamRequest, cluster: Cluster, pool: Pool, runtimes: Sequence[str]
) -> bytes:
    """Return a team's profile; a line whose value the cluster lacks is left out.

    Args:
        request: the team that is wanted.
        cluster: that the quota is on.
        pool: that the quota is of.
        runtimes: names of those that the team uses.
    """
    cohort = request.cohort or next(iter(by_name(cluster.cohorts)), NONE)
    values = {
        **_people(request, cluster.settings.domain),
        "name": request.name,
        "runtimes": ", ".join(map(inline, runtimes)),
        "cohort": "" if cohort == NONE else inline(cohort),
        "cluster": inline(cluster.name),
        "pool": inline(pool.name),
        "quota": _flow(request.quota),
        "storage": next((inline(kept.name) for kept in cluster.storage if kept.kind == "nfs"), ""),
    }
    text = "".join(_lines(values))
    source, found = read("", text.encode())
    assert not found, found
    assert source.value["quota"] == {cluster.name: {pool.name: request.quota}}
    return text.encode()


def _people(request: TeamRequest, domain: str) -> dict[str, str]:
    """Return contact and groups, as they are stated or else as they are guessed."""
    name = request.name
    guess = {"admin": f"[{name}-leads]", "user": f"[{name}]", "viewer": f"[{name}-guests]"}
    return {
        "contact": inline(request.contact) if request.contact else "",
        "contact_guess": "" if request.contact else f"{name}@{domain}",
        "groups": _flow({role: f"[{_item(each)}]" for role, each in request.groups.items()}),
        "groups_guess": "" if request.groups else _flow(guess),
    }


def _item(text: str) -> str:
    """Return text as an item of a list on one line, where a comma ends it."""
    return double_quoted(text) if "," in text else inline(text)


def _flow(values: Mapping[str, object]) -> str:
    """Return a mapping in one line; empty without a value."""
    entries = ", ".join(f"{key}: {value}" for key, value in values.items())
    return f"{{{entries}}}" if entries else ""


def _lines(values: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of the template whose values are all there."""
    template = (SCAFFOLD / "team.yaml").read_text(encoding="utf-8")
    for text in template.splitlines(keepends=True):
        line = Template(text)
        if all(values[name] for name in line.get_identifiers()):
            yield line.substitute(values)
