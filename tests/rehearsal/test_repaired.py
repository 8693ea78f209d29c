"""A rehearsal tries a cluster as it is when all nodes are back."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cases import platform_of
from trainyard.generation.generate import Checked, Generation
from trainyard.render.site import render_site
from trainyard_rehearsal.repaired import held, out_of_use, repaired

CLUSTER = "clusters/prod-east.yaml"


def generation(changes: dict[str, Any]) -> Generation:
    platform = platform_of(changes)
    manifests = {site.name: render_site(site) for site in platform.sites}
    checked = Checked(None, platform, ())  # type: ignore[arg-type] # nothing reads the profiles
    return Generation(checked, (), manifests=manifests)


@pytest.mark.parametrize(
    "changes",
    [
        {CLUSTER: {"state": "held"}},
        {CLUSTER: {"pools": {"dgx-h100": {"state": "held"}}}},
        {CLUSTER: {"pools": {"dgx-h100": {"state": "draining"}}}},
        {"teams/nlp.yaml": {"state": "held"}},
        {"teams/nlp.yaml": {"states": {"prod-east": "held"}}},
    ],
)
def test_held_queues_are_tried_as_if_open(changes: dict[str, Any]) -> None:
    stopped, plain = generation(changes), generation({})
    assert _policies(stopped) != _policies(plain)
    found = repaired(stopped, "../profiles/components")
    assert _policies(found) == _policies(plain)
    assert found.checked.platform is not None
    assert [held(site) for site in found.checked.platform.sites] == [0]


def test_draining_team_stays_as_it_is() -> None:
    draining = generation({"teams/nlp.yaml": {"state": "draining"}})
    assert repaired(draining, "") is draining


def _policies(of: Generation) -> list[str]:
    queues = (each for each in of.manifests["prod-east"] if each.body["kind"] == "ClusterQueue")
    return [each.body["spec"]["stopPolicy"] for each in queues]


def test_tree_is_that_without_maintenance() -> None:
    names = [f"gpu-{number}" for number in range(9)]
    entry = {"nodes": names, "until": "2026-12-01", "reason": "power"}
    pools = {"dgx-h100": {"maintenance": [entry]}}
    maintained = generation({CLUSTER: {"pools": pools}})
    plain = generation({})
    assert maintained.manifests != plain.manifests

    found = repaired(maintained, "../profiles/components")
    bodies = [each.body for each in found.manifests["prod-east"]]
    assert bodies == [each.body for each in plain.manifests["prod-east"]]
    assert found.checked.platform is not None
    assert [out_of_use(site) for site in found.checked.platform.sites] == [0]
    assert repaired(plain, "") is plain
