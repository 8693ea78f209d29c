"""A rehearsal tries a cluster as it is when all nodes are back."""

from __future__ import annotations

from typing import Any

from tests.rules.cases import platform_of
from trainyard.generation.generate import Checked, Generation
from trainyard.render.site import render_site
from trainyard_rehearsal.repaired import out_of_use, repaired

CLUSTER = "clusters/prod-east.yaml"


def generation(changes: dict[str, Any]) -> Generation:
    platform = platform_of(changes)
    manifests = {site.name: render_site(site) for site in platform.sites}
    checked = Checked(None, platform, ())  # type: ignore[arg-type] # nothing reads the profiles
    return Generation(checked, (), manifests=manifests)


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
