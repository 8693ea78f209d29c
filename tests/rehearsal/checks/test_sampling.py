"""The teams that a rehearsal tries: a team of another shape is never left out."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import Any

import pytest

from tests.conftest import REPOSITORY
from tests.rules.cases import platform_of
from trainyard.generation.objects import component_manifests
from trainyard.model.platform import Site
from trainyard.render.site import render_site
from trainyard_rehearsal.checks.sampling import (
    _TRIED_FOR_ALL,
    TeamSample,
    all_teams,
    sample_teams,
    team_shapes,
    with_sample_remark,
)
from trainyard_rehearsal.outcome import Outcome

pytestmark = pytest.mark.thorough

CLUSTER, LEDGER, RUNTIME = (
    "clusters/prod-east.yaml",
    "allocations.yaml",
    "runtimes/openmpi-cuda.yaml",
)
TWINS, THIRD = 6, 2
"""Teams that are alike but for names, numbers and amounts."""
POOLS: dict[str, Any] = {
    "dgx-h100": {"nodes": 60},
    "b": {"hardware": "b", "nodes": 20, "fabric": "ib"},
}
RELEASES: Mapping[str, dict[str, Any]] = {
    "openshift-ai-3.5": {"pools": POOLS},
    "kubernetes-1.36": {
        "release": "kubernetes-1.36",
        "pools": POOLS,
        "fabrics": {
            "ib": {
                "link": "roce",
                "partitions": None,
                "vlans": "100-199",
                "block": 18,
                "addresses": "10.64.0.0/10",
            }
        },
        "external": {"Partitions/ib": None, "Vlans/ib": "fabric team"},
        "networks": {"pods": "172.16.0.0/14"},
    },
}


def _team(i: int, **more: Any) -> dict[str, Any]:
    name = f"twin{i}"
    return {
        "contact": f"{name}@example.com",
        "groups": {"admin": [f"{name}-leads"], "user": [name]},
        "serviceAccounts": {"ci": {"role": "user"}},
        "runtimes": ["openmpi-cuda"],
        "cohort": "research",
        "quota": {"prod-east": {"dgx-h100": {"nodes": 4 + i, "borrow": 2 + i}}},
        "largestJob": {"nodes": 4},
        "storage": {"home": f"{i + 1}Ti", "scratch": "1Ti", "checkpoints": f"bucket-of-{name}"},
        **more,
    }


def _number(field: str, i: int) -> str | int:
    return f"0x{0x110 + i:04x}" if field == "partition" else 110 + i


def _allocations(field: str) -> dict[str, dict[str, Any]]:
    """Return the allocations of the alike teams, and of two retired ones."""
    found: dict[str, dict[str, Any]] = {}
    for i in range(TWINS):
        found[f"twin{i}"] = {field: _number(field, i), "addresses": f"10.{64 + i}.0.0/18"}
    for i, team in enumerate(("nlp", "vision")):
        found[team] = {"partition": None} if field == "vlan" else {}
        found[team] |= {field: _number(field, 20 + i), "addresses": f"10.{90 + i}.0.0/18"}
    return found


def _profiles(field: str) -> dict[str, dict[str, Any]]:
    """Return the changed profiles of the platform without its teams."""
    return {
        RUNTIME: {"hardware": ["b", "dgx-h100"]},
        "runtimes/torchrun.yaml": {
            "version": 1,
            "image": f"registry.example.com/x@sha256:{'a' * 64}",
            "launcher": "torchrun",
            "hardware": ["dgx-h100"],
            "libraries": {"torch": "2.6.0", "cuda": "12.6"},
            "maxNodes": 16,
        },
        "hardware/b.yaml": {
            "extends": "nvidia-dgx-h100",
            "labels": {"nvidia.com/gpu.product": "B"},
        },
        LEDGER: {"prod-east": {"ib": _allocations(field)}},
    }


def _site(release: str, changes: Mapping[str, Any] | None = None) -> Site:
    """Return a cluster of six alike teams after changes of the third.

    The third has neither the most nor the least quota.
    """
    field = {"openshift-ai-3.5": "partition", "kubernetes-1.36": "vlan"}[release]
    teams = {f"teams/twin{i}.yaml": _team(i) for i in range(TWINS)}
    third = {**_team(THIRD), **(changes or {})}
    teams[f"teams/twin{THIRD}.yaml"] = {k: each for k, each in third.items() if each is not None}
    platform = platform_of(
        {
            CLUSTER: RELEASES[release],
            **_profiles(field),
            "teams/nlp.yaml": {"state": "retired"},
            "teams/vision.yaml": {"state": "retired"},
            **teams,
        }
    )
    return next(site for site in platform.sites if site.name == "prod-east")


def _sampled(site: Site) -> TeamSample:
    return sample_teams(site, [*render_site(site), *component_manifests(site)])


@pytest.mark.parametrize("release", RELEASES)
def test_teams_of_one_shape_are_sampled(release: str) -> None:
    """They differ in names, groups, contacts, buckets, fabric numbers and amounts."""
    site = _site(release)
    manifests = [*render_site(site), *component_manifests(site)]

    assert len(set(team_shapes(site, manifests))) == 1
    assert sample_teams(site, manifests).teams == {"twin0", "twin5"}
    assert _sampled(site).remark == "2 of 6 teams, the rest have the same shape"


OTHERS: dict[str, dict[str, Any]] = {
    "a role more": {
        "groups": {"admin": ["twin2-leads"], "user": ["twin2"], "viewer": ["twin2-guests"]}
    },
    "a role less": {"groups": {"user": ["twin2"]}},
    "two groups of a role": {"groups": {"admin": ["twin2-leads"], "user": ["twin2", "twin2-too"]}},
    "a group of another team": {"groups": {"admin": ["twin2-leads"], "user": ["twin4"]}},
    "an operators' group": {"groups": {"admin": ["twin2-leads"], "user": ["ml-platform"]}},
    "no account": {"serviceAccounts": {}},
    "an account of another role": {"serviceAccounts": {"ci": {"role": "admin"}}},
    "an account that exists": {"serviceAccounts": {"ci": {"role": "user", "owner": "CI team"}}},
    "a runtime more": {"runtimes": ["openmpi-cuda", "torchrun"]},
    "another runtime": {"runtimes": ["torchrun"]},
    "no cohort": {"cohort": None, "quota": {"prod-east": {"dgx-h100": {"nodes": 6}}}},
    "no borrowing": {"quota": {"prod-east": {"dgx-h100": {"nodes": 6}}}},
    "lending a part": {"quota": {"prod-east": {"dgx-h100": {"nodes": 6, "borrow": 4, "lend": 3}}}},
    "lending none": {"quota": {"prod-east": {"dgx-h100": {"nodes": 6, "borrow": 4, "lend": 0}}}},
    "a share": {"quota": {"prod-east": {"dgx-h100": {"gpus": 4}}}, "largestJob": None},
    "another pool": {"quota": {"prod-east": {"b": {"nodes": 6, "borrow": 4}}}},
    "a pool more": {
        "quota": {"prod-east": {"dgx-h100": {"nodes": 6, "borrow": 4}, "b": {"nodes": 2}}}
    },
    "a job on borrowed nodes": {"largestJob": {"nodes": 8}},
    "a priority less": {"priorities": ["batch"]},
    "storage less": {"storage": {"home": "3Ti", "checkpoints": "bucket-of-twin2"}},
    "no bucket": {"storage": {"home": "3Ti", "scratch": "1Ti"}},
    "draining": {"state": "draining"},
    "a space": {"spaces": {"dev": {"largestJob": {"nodes": 2}}}},
}


@pytest.mark.parametrize(
    ("release", "changes"), list(zip(cycle(RELEASES), OTHERS.values())), ids=OTHERS
)
def test_team_of_another_shape_is_never_left_out(release: str, changes: dict[str, Any]) -> None:
    """It is tried although it is neither first nor last, and has neither least nor most quota."""
    site = _site(release, changes)
    others = list(team_shapes(site, [*render_site(site), *component_manifests(site)]))
    alone = others.pop(THIRD)

    assert alone not in others
    assert len(set(others)) == (2 if "twin4" in str(changes) else 1)
    assert f"twin{THIRD}" in _sampled(site).teams


def test_every_object_of_a_team_is_part_of_its_shape() -> None:
    """A later addition to any object of a team makes another shape without a change here."""
    site = _site("kubernetes-1.36")
    manifests = [*render_site(site), *component_manifests(site)]
    tenant = site.tenants[THIRD]
    own = [i for i, each in enumerate(manifests) if each.at == tenant.team.at]
    assert {"ClusterQueue", "LocalQueue", "Namespace", "ConfigMap", "AppProject", "TrainJob"} <= {
        manifests[i].kind.name for i in own
    }
    for i in own:
        one = manifests[i]
        added = {
            **one.body,
            "metadata": {**one.body["metadata"], "annotations": {"added": "some day"}},
        }
        changed = [
            *manifests[:i],
            type(one)(one.path, added, one.files, one.at),
            *manifests[i + 1 :],
        ]
        assert tenant.name in sample_teams(site, changed).teams, one.path


def test_every_team_of_this_repository_has_a_shape_of_its_own(sites: Mapping[str, Site]) -> None:
    """A rehearsal of both clusters tries all teams, and has no remark about a sample."""
    for site in sites.values():
        assert _sampled(site) == all_teams(site)
        assert not all_teams(site).remark


def test_remark_counts_the_tried_teams() -> None:
    """It comes after the other remarks."""
    some, outcome = (
        TeamSample(frozenset({"a"}), 3),
        Outcome("sample jobs run", 1, 1, remark="dry runs"),
    )
    (remarked,) = with_sample_remark(iter([outcome]), some)

    assert remarked.remark == "dry runs; 1 of 3 teams, the rest have the same shape"
    assert list(with_sample_remark(iter([outcome]), TeamSample(frozenset({"a"}), 1))) == [outcome]
    whole = Outcome("own quotas filled", 3, 3)
    assert list(with_sample_remark(iter([whole]), some)) == [whole]


def test_promises_tried_for_all_teams_exist() -> None:
    """A renamed promise would get the remark of a sample."""
    texts = [
        each.read_text("utf-8")
        for each in (REPOSITORY / "generator/trainyard_rehearsal").rglob("*.py")
        if each.stem != "sampling"
    ]

    assert [
        name for name in sorted(_TRIED_FOR_ALL) if not any(f'"{name}"' in text for text in texts)
    ] == []
