"""Each name that a controller derives is kept from the names of the tree, as its page says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from docs.names import TREE_KINDS, keeper
from tests.releases.platforms import platforms
from trainyard.diagnostics import Diagnostic
from trainyard.generation.objects import component_manifests
from trainyard.model import names, reserved
from trainyard.model.component import Component
from trainyard.model.derived import DerivedName
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Platform, Site
from trainyard.model.tenant import Tenant
from trainyard.profiles.read import plurals, releases
from trainyard.render.folder import templates_folder
from trainyard.render.site import render_site
from trainyard.render.views.site import SiteView
from trainyard.resolve.release import resolve_release
from trainyard.rules.access import shadowed_account
from trainyard.rules.delivery import name_of_a_controller

ROWS = [
    (name, row)
    for name, source in releases().items()
    for row in resolve_release(name, source, plurals()[name]).derived_names
]


def label(value: object) -> str:
    """Return the id of a test case."""
    if isinstance(value, DerivedName):
        return f"{value.by}-{value.kind}-{value.name}"
    return str(value)


def sites(release: str) -> Iterator[tuple[Platform, Site]]:
    """Yield each cluster with a release."""
    for platform in platforms():
        for site in platform.sites:
            if site.cluster.release.name == release:
                yield platform, site


@cache
def in_team_namespaces(release: str) -> list[Manifest]:
    """Return what the trees of a release have in the teams' namespaces."""
    found = [
        manifest
        for _, site in sites(release)
        for manifest in (*render_site(site), *component_manifests(site))
        if manifest.namespace.startswith(names.TEAM_PREFIX) and manifest.unit != "samples"
    ]
    assert len(found) > 50
    return found


def example(pattern: str) -> str:
    """Return a name that a controller would give."""
    return pattern.replace("*", "x")


@pytest.mark.parametrize(("release", "row"), ROWS, ids=label)
def test_the_tree_has_no_object_with_a_derived_name(release: str, row: DerivedName) -> None:
    """A bare name is of a kind that the tree lacks there, or jobs can't have it."""
    made = {"ExternalSecret": "Secret"}
    found = {
        each.name
        for each in in_team_namespaces(release)
        if made.get(each.body["kind"], each.body["kind"]) == row.kind
    }
    if row.kind not in TREE_KINDS:
        assert found == set()
    elif not row.is_bare and row.taken != "kept":
        assert {name for name in found if row.fits(name)} <= declared(release)


def declared(release: str) -> set[str]:
    """Return the accounts that teams state to be made by somebody else."""
    return {
        account.name
        for platform, _ in sites(release)
        for team in platform.teams
        for account in team.accounts
        if account.owner
    }


@pytest.mark.parametrize(
    ("release", "row"),
    [each for each in ROWS if "name-of-a-controller" in keeper(each[1])],
    ids=label,
)
def test_a_rule_refuses_a_derived_name(release: str, row: DerivedName) -> None:
    """The tree's own object of that name is an error, and one that differs in a letter is none."""
    platform, site = next(sites(release))
    found = findings(platform, site, row.kind, example(row.name))
    others = findings(platform, site, row.kind, "y-plain")

    assert {each.rule for each in found} == {"delivery/name-of-a-controller"}
    assert any(f"only {row.by} may use" in each.message for each in found)
    assert others == []


def findings(platform: Platform, site: Site, kind: str, name: str) -> list[Diagnostic]:
    """Return what the rule says about a cluster where the tree has an object of some name."""
    changed = with_object(site, kind, name)
    found = name_of_a_controller.find(replace(platform, sites=(changed,)))
    return [each for each in found if f"`{name}`" in each.message or "egress" in each.message]


def with_object(site: Site, kind: str, name: str) -> Site:
    """Return a cluster whose tree has an object of some name, as profiles can have it."""
    tenant = site.tenants[0]
    if kind == "NetworkPolicy":
        egress = site.cluster.egress[0] if site.cluster.egress else None
        assert egress is not None
        stated = replace(egress, name=name.removeprefix("egress-"))
        return replace(site, cluster=replace(site.cluster, egress=(stated,)))
    if kind == "PersistentVolumeClaim":
        claims = [claim for each in site.tenants for space in each.spaces for claim in space.claims]
        claim = replace(claims[0], storage=replace(claims[0].storage, name=name))
        spaces = (replace(tenant.spaces[0], claims=(claim,)),)
        return replace(site, tenants=(replace(tenant, spaces=spaces),))
    return replace(site, tenants=(with_component(tenant, kind, name),))


def with_component(tenant: Tenant, kind: str, name: str) -> Tenant:
    """Return a team with a component that makes a ConfigMap, or a Secret from a store."""
    made: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap"}
    if kind == "Secret":
        made = {"apiVersion": "external-secrets.io/v1", "kind": "ExternalSecret"}
    namespace = tenant.spaces[0].namespace
    body = {**made, "metadata": {"name": name, "namespace": namespace}}
    component = Component("extra", tenant.team.at, {"a.yaml": (body,)})
    return replace(tenant, components=(component,))


@pytest.mark.parametrize(
    ("release", "row"), [each for each in ROWS if each[1].kind == "ServiceAccount"], ids=label
)
def test_accounts_of_controllers_are_declared_by_their_owner(
    release: str, row: DerivedName
) -> None:
    """The account of ranks is refused to teams, so that none has a role by a workbench's name."""
    assert names.JOB_ACCOUNT in shadowed_account.RULE.why
    accounts = [
        each for each in in_team_namespaces(release) if each.body["kind"] == "ServiceAccount"
    ]
    ours = {each.name for each in accounts}
    assert not {name for name in ours if not row.is_bare and row.fits(name)}


@pytest.mark.parametrize("release", sorted(releases()))
def test_no_job_has_the_name_of_an_object_of_the_tree(release: str) -> None:
    """Of the kinds of which a job gets an object with its own name."""
    alike = next(sites(release))[1].cluster.release.named_like_jobs
    for _, site in sites(release):
        for manifest in render_site(site):
            is_theirs = manifest.namespace.startswith(names.TEAM_PREFIX)
            if is_theirs and manifest.body["kind"] in alike:
                assert reserved.is_no_job_name(manifest.name, site), manifest.path


def test_templates_of_network_policies_have_names_that_are_reserved() -> None:
    """A new one has a name that no job can have taken before: it begins with the prefix."""
    named = set()
    for path in templates_folder().glob("team/network-policy-*.j2"):
        text = path.read_text(encoding="utf-8")
        named.add(text.partition("\n  name: ")[2].partition("\n")[0])

    begun = {name for name in named if name.startswith(names.RESERVED_PREFIX)}
    assert named - begun == {*names.NETWORK_POLICIES, "{{ egress.policy_name }}"}


@pytest.mark.parametrize("release", sorted(releases()))
def test_the_policy_has_the_patterns_that_fit_uses(release: str) -> None:
    """The evaluator is not always built: then `fit` compares with the same patterns."""
    for _, site in sites(release):
        expression = SiteView(site).no_job_name
        for pattern in reserved.job_names(site):
            assert pattern.replace("*", ".*") in expression
        assert not reserved.is_no_job_name("nlp-openmpi-cuda", site)
        assert not reserved.is_no_job_name("dns-of-nlp", site)
