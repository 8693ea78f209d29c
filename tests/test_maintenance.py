"""Changes that a rehearsal merges: profiles stay valid, and only the expected units change."""

from __future__ import annotations

import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from tests.cli.calls import edit
from tests.conftest import REPOSITORY
from trainyard.generation.generate import generate
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.render.site import render_site
from trainyard_rehearsal.checks.changes import InvalidProfiles, PlannedChanges
from trainyard_rehearsal.checks.git_delivery import Tree
from trainyard_rehearsal.maintenance import changed, plan_changes
from trainyard_rehearsal.repaired import held, repaired

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
    site = _site(root, name)
    return tree(site), _planned(site, root)


def _site(root: Path, name: str) -> Site:
    platform = generate(root, COMPONENTS).checked.platform
    assert platform is not None
    return next(site for site in platform.sites if site.name == name)


def _planned(site: Site, root: Path) -> PlannedChanges:
    return plan_changes(site, root, lambda: tree(changed(site, root, COMPONENTS, "2026-11-21")))


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
        assert differing(before, after) <= units | {"samples", "nodes", "PrometheusRule"}
        before = after
    after = merges.retire_team()
    assert f"teams/{leaving}" in differing(before, after)
    assert leaving not in [tenant.name for tenant in after.site.tenants]
    after = merges.add_team()
    assert merges.successor in [tenant.name for tenant in after.site.tenants]


@pytest.mark.parametrize("name", ["lab", "prod-east"])
def test_any_team_may_be_the_first_or_the_last(name: str, tmp_path: Path) -> None:
    """The first one may have a share of a node. The last one may have another cluster, components,
    and a pool without fabric before one with a fabric."""
    tenants = _site(REPOSITORY / "profiles", name).tenants
    for first, last in pairwise([*tenants, tenants[0]]):
        root = shutil.copytree(REPOSITORY / "profiles", tmp_path / last.name / "profiles")
        edit(root / "teams/speech.yaml", "[torchrun, ", "[torchrun, intel-mpi, ")
        edit(root / "teams/speech.yaml", "lab: {", "lab: {cpu: {nodes: 2}, ")
        edit(root / "clusters/lab.yaml", "cpu-epyc, nodes: 7", "cpu-epyc, nodes: 9")
        merges = _planned(replace(_site(root, name), tenants=(first, last)), root)
        merges.grow_quota()
        merges.add_viewers()
        merges.drain_team()
        merges.retire_team()
        now = [tenant.name for tenant in merges.add_team().site.tenants]
        assert merges.successor in now


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("clusters/lab.yaml", "release: kubernetes-1.36", "state: held\nrelease: kubernetes-1.36"),
        ("clusters/lab.yaml", "cpu-epyc, nodes: 7", "cpu-epyc, nodes: 7, state: held"),
        ("teams/science.yaml", "quota:", "state: held\nquota:"),
        ("teams/science.yaml", "quota:", "states: {lab: held}\nquota:"),
    ],
)
def test_changes_open_what_is_held(file: str, old: str, new: str, tmp_path: Path) -> None:
    """A rehearsal tries them as if no queue was held."""
    root = shutil.copytree(REPOSITORY / "profiles", tmp_path / "profiles")
    edit(root / file, old, new)
    generation = generate(root, COMPONENTS)
    platform = repaired(generation, COMPONENTS).checked.platform
    assert platform is not None
    site = next(site for site in platform.sites if site.name == "lab")
    assert held(site) == 0
    assert any(map(held, generation.checked.platform.sites if generation.checked.platform else ()))

    after = _planned(site, root).grow_quota()
    policies = {
        manifest.body["spec"]["stopPolicy"]
        for manifest in after.manifests
        if manifest.kind.name == "ClusterQueue"
    }
    assert policies == {"None"}


def test_new_team_has_no_name_of_the_former_team(profiles: Path) -> None:
    """Its folder and its earlier name stay its own."""
    team = profiles / "teams/vision.yaml"
    team.write_text(f"{team.read_text()}folder: images\nrenamedFrom: images\n")
    _, merges = planned(profiles, "prod-east")
    assert merges.retiring.name == "vision"
    merges.retire_team()

    teams = {tenant.name: tenant.team for tenant in merges.add_team().site.tenants}
    assert teams[merges.successor].folder == merges.successor


def test_profiles_with_errors_are_reported(
    begun: tuple[Tree, PlannedChanges], tmp_path: Path
) -> None:
    _, merges = begun
    (tmp_path / "profiles" / "teams" / f"{merges.retiring.name}.yaml").unlink()
    (tmp_path / "profiles" / "notes.txt").touch()
    with pytest.raises(InvalidProfiles, match=r"misplaced-file: `notes\.txt` is not a profile"):
        merges.grow_quota()
