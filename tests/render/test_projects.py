"""What Argo CD may touch: more than there is now, so that the last of a kind can be pruned."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.rules.cases import platform_of
from trainyard.render.site import render_site
from trainyard.render.unit import readme

_WITHOUT_SECRETS: dict[str, Any] = {
    "teams/nlp.yaml": {"storage": {"checkpoints": None}},
    "runtimes/openmpi-cuda.yaml": {"pullSecret": None},
}


def _permitted(changes: dict[str, Any], name: str) -> list[dict[str, str]]:
    (site,) = platform_of(changes).sites
    (body,) = (
        each.body
        for each in render_site(site)
        if (each.kind.name, each.name) == ("AppProject", name)
    )
    kinds: list[dict[str, str]] = body["spec"]["namespaceResourceWhitelist"]
    return kinds


def test_project_does_not_narrow_with_the_last_object_of_a_kind() -> None:
    """A team that gives up its credentials keeps a project that lets Argo CD take them away."""
    before, after = (
        _permitted(changes, "prod-east-team-nlp") for changes in ({}, _WITHOUT_SECRETS)
    )

    assert {"group": "external-secrets.io", "kind": "ExternalSecret"} in after
    assert before == after


def test_every_object_of_a_unit_is_permitted() -> None:
    """What the templates' lines say of their kind is what they make."""
    for release in ("kubernetes-1.36", "openshift-ai-3.5"):
        (site,) = platform_of({"clusters/prod-east.yaml": {"release": release}}).sites
        manifests = render_site(site)
        projects = {
            each.name: each.body["spec"] for each in manifests if each.kind.name == "AppProject"
        }
        for each in (each for each in manifests if each.unit.startswith(("platform", "teams/"))):
            spec = projects[site.part(each.unit.replace("teams/", "team-"))]
            listed = spec[
                "namespaceResourceWhitelist" if each.kind.namespaced else "clusterResourceWhitelist"
            ]
            assert (each.kind.group, each.kind.name) in {
                (kind["group"], kind["kind"]) for kind in listed
            }, each.path


@pytest.mark.parametrize("release", ["kubernetes-1.36", "openshift-ai-3.5"])
def test_readme_says_which_commands_are_for_another_cluster(release: str) -> None:
    """Each that names Argo CD's namespace or applies its objects, and no other."""
    own, remote = (
        readme(platform_of({"clusters/prod-east.yaml": {"release": release, **more}}).sites[0])
        for more in ({}, {"server": "https://east.example.com:6443"})
    )
    assert "Argo CD's cluster" not in own
    assert "exactly the address `https://east.example.com:6443`" in remote
    assert "\n    argocd cluster add CONTEXT --name prod-east\n" in remote
    there = [part for part in remote.split("\n\n") if part.endswith("on Argo CD's cluster:")]
    there += [part for part in remote.split("\n\n") if "once, on Argo CD's cluster;" in part]
    argocd = re.compile(r"^ {4,}(?:oc|kubectl) .*(?:argocd|gitops).*(?:\n {4}.*)*", re.MULTILINE)
    blocks = [part for part in remote.split("\n\n") if argocd.match(part)]
    assert len(blocks) == len(there) == 3
