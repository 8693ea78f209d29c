"""Changes that a rehearsal merges: profiles stay valid, and only the expected units change."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.calls import edit
from tests.conftest import REPOSITORY
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.render.site import render_site
from trainyard.workflows.generate import generate
from trainyard_rehearsal.checks.changes import InvalidProfiles, PlannedChanges
from trainyard_rehearsal.checks.git_delivery import Tree
from trainyard_rehearsal.maintenance import changed, plan_changes

pytestmark = pytest.mark.thorough

COMPONENTS = "../profiles/components"


@pytest.fixture(
    params=["profiles/lab", "profiles/prod-east", "examples/two-fabrics/profiles/south"]
)
def begun(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Tree, PlannedChanges]:
    """The tree of a cluster, and the changes that are merged."""
    folder, _, name = request.param.rpartition("/")
    return planned(shutil.copytree(REPOSITORY / folder, tmp_path / "profiles"), name)


def planned(root: Path, name: str) -> tuple[Tree, PlannedChanges]:
    platform = generate(root, COMPONENTS).checked.platform
    assert platform is not None
    site = next(site for site in platform.sites if site.name == name)
    return tree(site), plan_changes(
        site, root, lambda: tree(changed(site, root, COMPONENTS, "2026-11-21"))
    )


def tree(site: Site) -> Tree:
    return Tree(site, {}, render_site(site), ())


def differing(before: Tree, after: Tree) -> set[str]:
    """Return the units of objects that differ between trees; the platform's objects by kind."""
    bodies = [{each.path: each for each in one.manifests} for one in (before, after)]
    paths = {
        path
        for path in bodies[0].keys() | bodies[1].keys()
        if _body(bodies[0], path) != _body(bodies[1], path)
    }
    found = [(bodies[0] | bodies[1])[path] for path in paths]
    return {each.kind.name if each.unit == "platform" else each.unit for each in found}


def _body(bodies: dict[str, Manifest], path: str) -> object:
    return bodies[path].body if path in bodies else None


def test_each_change_touches_what_it_should(begun: tuple[Tree, PlannedChanges]) -> None:
    before, merges = begun
    first, leaving = merges.first.name, merges.retiring.name
    expected = {
        merges.grow_quota: {"ClusterQueue", "ConfigMap"},
        merges.add_viewers: {f"teams/{first}", "ClusterRoleBinding"},
        merges.drain_team: {"ClusterQueue"},
    }
    for merge, units in expected.items():
        after = merge()
        assert {"ClusterQueue", f"teams/{first}"} & differing(before, after)
        assert differing(before, after) <= units | {"samples", "nodes"}
        before = after
    after = merges.retire_team()
    assert f"teams/{leaving}" in differing(before, after)
    assert leaving not in [tenant.name for tenant in after.site.tenants]
    after = merges.add_team()
    assert merges.successor in [tenant.name for tenant in after.site.tenants]


def test_new_team_has_the_runtimes_of_its_own_pools(profiles: Path) -> None:
    """The former team is on two clusters, and one of its runtimes is for the other cluster only."""
    edit(profiles / "teams/speech.yaml", "openmpi-cuda]", "openmpi-cuda, deepspeed]")
    edit(
        profiles / "teams/speech.yaml",
        "quota:\n",
        "quota:\n  prod-east: {dgx-h100: {nodes: 2}}\n",
    )
    edit(profiles / "clusters/prod-east.yaml", "nodes: 17,", "nodes: 19,")
    edit(
        profiles / "allocations.yaml",
        "  uids:\n",
        '    speech: {partition: "0x0104", addresses: 10.64.48.0/20}\n  uids:\n',
    )
    _, merges = planned(profiles, "lab")
    assert merges.retiring.name == "speech"
    merges.drain_team()
    merges.retire_team()

    teams = {tenant.name: tenant.team for tenant in merges.add_team().site.tenants}
    assert teams[merges.successor].runtimes == ("openmpi-cuda", "torchrun")


def test_profiles_with_errors_are_reported(
    begun: tuple[Tree, PlannedChanges], tmp_path: Path
) -> None:
    _, merges = begun
    (tmp_path / "profiles" / "teams" / f"{merges.retiring.name}.yaml").unlink()
    (tmp_path / "profiles" / "notes.txt").touch()
    with pytest.raises(InvalidProfiles, match=r"shape/misplaced-file: `notes\.txt` is no profile"):
        merges.grow_quota()
