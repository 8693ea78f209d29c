"""No list of a profile is too long for the objects that are made of it, without a finding that says
so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.rules.cases import HERE, merged, platform_of, read_case
from tests.rules.components import KUSTOMIZATION
from trainyard.generation.objects import check_tree
from trainyard.model.platform import Platform
from trainyard.profiles.read import releases
from trainyard.render.site import render_site
from trainyard.rules.check import check_meaning
from trainyard.rules.release.invalid_manifest import RULE as INVALID_MANIFEST
from trainyard.rules.scheduling.too_many_frameworks import FRAMEWORKS_LIMIT
from trainyard.schema.manifests import schema_folder
from trainyard.schema.profiles import profile_kinds, profile_schema

QUEUE_LIMITS = {"0.16": (16, 16), "0.18": (64, 64), "0.19": (64, 64)}
"""Flavors and resources that both a ClusterQueue and a LocalQueue's status take, by Kueue."""
MANY = 130
IN_BASE = 4
"""As many of each list, or fewer, are in the base platform."""

CLUSTER, TEAM, HARDWARE, RUNTIME = (
    *(
        "clusters/prod-east.yaml",
        "teams/nlp.yaml",
        "hardware/dgx-h100.yaml",
        "runtimes/openmpi-cuda.yaml",
    ),
)
NAMES = [f"n{i}" for i in range(MANY)]
IMAGE = f"registry.example.com/x@sha256:{'a' * 64}"


def many(value: Any) -> dict[str, Any]:
    """Return a mapping of many names."""
    return dict.fromkeys(NAMES, value)


def pools(number: int) -> dict[str, Any]:
    """Return a team with quota on many pools of one class of node."""
    names = NAMES[:number]
    hardware = {
        f"hardware/{name}.yaml": {
            "extends": "nvidia-dgx-h100",
            "labels": {"example.com/kind": name},
        }
        for name in names
    }
    quota = {"prod-east": {"dgx-h100": None, **{name: {"nodes": 1} for name in names}}}
    cluster = {"pools": {name: {"nodes": 2, "hardware": name} for name in names}}
    return {**hardware, CLUSTER: cluster, TEAM: {"quota": quota, "largestJob": {"nodes": 1}}}


def rails(number: int) -> dict[str, Any]:
    """Return nodes with many ports on a fabric."""
    nics = [
        {"device": f"r{i}", "pci": f"0000:{i:02x}:00.0", "numa": 0, "role": "rail"}
        for i in range(number)
    ]
    return {HARDWARE: {"nics": nics}}


def repair(nodes: list[str]) -> dict[str, Any]:
    return {"nodes": nodes, "until": "2099-12-31", "reason": "x"}


LONG: dict[str, dict[str, Any]] = {
    "cluster.cohorts": {CLUSTER: {"cohorts": many({})}},
    "cluster.dns.addresses": {
        CLUSTER: {"dns": {"addresses": [f"169.254.20.{i}" for i in range(1, 9)]}}
    },
    "cluster.dns.labels": {CLUSTER: {"dns": {"labels": {f"x.com/{i}": "y" for i in range(8)}}}},
    "cluster.dns.ports": {CLUSTER: {"dns": {"ports": list(range(1, 9))}}},
    "cluster.egress": {CLUSTER: {"egress": many({"to": ["203.0.113.0/28"], "ports": [443]})}},
    "cluster.external": {
        CLUSTER: {"external": {f"StorageClass/{name}": "storage team" for name in NAMES}}
    },
    "cluster.fabrics": {
        CLUSTER: {
            "fabrics": many(
                {"link": "infiniband", "partitions": "0x0200-0x020f", "addresses": "10.80.0.0/16"}
            )
        }
    },
    "cluster.frameworks": {
        CLUSTER: {
            "frameworks": profile_schema("cluster")["properties"]["frameworks"]["items"]["enum"]
        }
    },
    "cluster.monitoring.labels": {
        CLUSTER: {"monitoring": {"labels": {f"x.com/{i}": "y" for i in range(20)}}}
    },
    "cluster.pools": pools(MANY),
    "cluster#pool.labels": {
        CLUSTER: {"pools": {"dgx-h100": {"labels": {f"x.com/{i}": "y" for i in range(7)}}}}
    },
    "cluster.priorities": {CLUSTER: {"priorities": {name: i for i, name in enumerate(NAMES)}}},
    "cluster.pullSecrets": {CLUSTER: {"pullSecrets": many({"secretStore": "vault", "path": "ml"})}},
    "cluster.memberKinds": {
        CLUSTER: {"memberKinds": [f"things{i}.example.com" for i in range(50)]}
    },
    "cluster.systemNamespaces": {CLUSTER: {"systemNamespaces": NAMES}},
    "cluster.unavailable": {
        CLUSTER: {"unavailable": ["api-server-flags", "kubelet-files", "machine-configs"]}
    },
    "cluster.roles.operator": {CLUSTER: {"roles": {"operator": NAMES}}},
    "cluster.roles.auditor": {CLUSTER: {"roles": {"auditor": NAMES}}},
    "cluster.storage": {CLUSTER: {"storage": many({"class": "cephfs"})}},
    "cluster#egress.to": {
        CLUSTER: {
            "egress": {"x": {"to": [f"203.0.113.{i}/32" for i in range(MANY)], "ports": [443]}}
        }
    },
    "cluster#egress.namespaces": {
        CLUSTER: {"egress": {"x": {"namespaces": NAMES, "ports": [443]}}}
    },
    "cluster#egress.ports": {
        CLUSTER: {"egress": {"x": {"to": ["203.0.113.0/28"], "ports": list(range(1, MANY))}}}
    },
    "cluster#maintenance.nodes": {
        CLUSTER: {
            "pools": {
                "dgx-h100": {
                    "nodes": MANY,
                    "reserve": MANY - 8,
                    "maintenance": [repair(NAMES[:90])],
                }
            }
        }
    },
    "cluster#pool.maintenance": {
        CLUSTER: {
            "pools": {
                "dgx-h100": {
                    "nodes": MANY,
                    "reserve": MANY - 8,
                    "maintenance": [repair([name]) for name in NAMES[:90]],
                }
            }
        }
    },
    "cluster#fabric.levels": {
        CLUSTER: {"fabrics": {"ib": {"levels": [f"x.com/{i}" for i in range(15)]}}}
    },
    "cluster#fabric.networks": {
        CLUSTER: {"fabrics": {"gke": {"link": "gke-rdma", "networks": NAMES[:16]}}}
    },
    "hardware.labels": {HARDWARE: {"labels": {f"x.com/{i}": "y" for i in range(8)}}},
    "hardware.nics": rails(64),
    "runtime.export": {RUNTIME: {"export": [f"X_{name.upper()}" for name in NAMES]}},
    "team.components": {
        **{f"components/{name}/kustomization.yaml": KUSTOMIZATION for name in NAMES},
        TEAM: {"components": NAMES},
    },
    "team.debuggers.groups": {
        TEAM: {"debuggers": {"groups": NAMES, "until": "2099-12-31", "reason": "x"}}
    },
    "team.groups.admin": {TEAM: {"groups": {"admin": NAMES}}},
    "team.groups.user": {TEAM: {"groups": {"user": NAMES}}},
    "team.groups.viewer": {TEAM: {"groups": {"viewer": NAMES}}},
    "team.queues.gpu": {TEAM: {"queues": {"gpu": NAMES}}},
    "team.priorities": {
        CLUSTER: {"priorities": {name: i for i, name in enumerate(NAMES)}},
        TEAM: {"priorities": NAMES},
    },
    "team.runtimes": {
        **{
            f"runtimes/{name}.yaml": {
                "version": 1,
                "maxNodes": 8,
                "displayName": name,
                "image": IMAGE,
                "hardware": ["dgx-h100"],
                "docs": "https://docs.example.com/x",
                "libraries": {"openmpi": "4.1.6", "cuda": "12.6"},
            }
            for name in NAMES
        },
        TEAM: {"runtimes": ["openmpi-cuda", *NAMES]},
    },
    "team.claims": {
        CLUSTER: {"storage": {name: {"class": name} for name in NAMES}},
        TEAM: {"claims": dict.fromkeys(NAMES, "1Gi")},
    },
    "team.serviceAccounts": {TEAM: {"serviceAccounts": many({"role": "user"})}},
    "team.spaces": {TEAM: {"spaces": many({})}},
    "team.storage": {
        CLUSTER: {"storage": {name: {"class": "cephfs"} for name in NAMES[:128]}},
        TEAM: {
            "storage": {
                "home": None,
                "scratch": None,
                "checkpoints": None,
                **dict.fromkeys(NAMES[:128], "1Gi"),
            }
        },
    },
}
"""The longest that the schema of profiles takes of each list and mapping, or many where it sets no
limit."""

OTHERS = {
    "cluster#maintenance.from": "it makes quotas smaller, and no object",
    "cluster#topology.levels": "cluster#fabric.levels",
    "cluster.topologies": "cluster.fabrics: each fabric has one",
    "hardware.devices": "pods request one of them, that of the fabric",
    "cluster.adopt.objects": "each is in the tree anyway",
    "cluster.installed": "one version for each component of the release",
    "cluster.monitoring.severity": "one for each alert",
    "cluster.monitoring.waiting": "cluster.priorities",
    "hardware.sources": "in no object",
    "runtime.arch": "no object has them",
    "runtime.hardware": "one object for each, as for each runtime",
    "team#pools": "cluster.pools",
    "team#space.claims": "team.claims",
    "team#space.priorities": "team.priorities",
    "team#space.storage": "team.storage",
    "team.queues.cpu": "team.queues.gpu",
    "team#space.queues.cpu": "team.queues.gpu",
    "team#space.queues.gpu": "team.queues.gpu",
    "team.mpiJobs": "one day for each cluster",
    "team.states": "one word for each cluster",
    "team.owners": "in no object",
    "team.quota": "one queue for each cluster",
}
RELEASES = {
    name: {"release": name}
    | ({} if "workspaces" in source.value["features"] else {"workspaces": None})
    for name, source in sorted(releases().items())
}


def collections(node: Any, path: str) -> Iterator[str]:
    """Yield every list of scalars and every mapping of free names in a schema of profiles."""
    if not isinstance(node, dict):
        return
    if node.get("type") == "array" or isinstance(node.get("additionalProperties"), dict):
        yield path
    for key, value in node.get("properties", {}).items():
        yield from collections(value, f"{path}.{key}")
    for name, value in node.get("definitions", {}).items():
        yield from collections(value, f"{path.partition('.')[0]}#{name}")


def unfit(platform: Platform) -> set[str]:
    """Return what the objects of a platform break their schemas with."""
    found = (each for site in platform.sites for each in check_tree(site, render_site(site)))
    return {each.message for each in found if each.rule == INVALID_MANIFEST.id}


def limits(platform: Platform) -> list[str]:
    """Return which limits a platform exceeds."""
    return [each.rule for each in check_meaning(platform) if "/too-many-" in each.rule]


def test_every_list_of_a_profile_is_tried() -> None:
    """A new list, or one that lost its limit, is added here."""
    kinds = ("cluster", "hardware", "runtime", "team")
    known = {each for kind in kinds for each in collections(profile_schema(kind), kind)}

    assert set(kinds) < set(profile_kinds())
    assert known == LONG.keys() | OTHERS.keys()


def longest(node: dict[str, Any], value: Any, root: dict[str, Any]) -> Any:
    """Return a part of a profile with no more items than its schema takes together with those of
    the base."""
    node = {
        **node,
        **root.get("definitions", {}).get(str(node.get("$ref", "")).rpartition("/")[2], {}),
    }
    if isinstance(value, list):
        return value[: max(node.get("maxItems", MANY) - IN_BASE, IN_BASE)]
    if not isinstance(value, dict):
        return value
    known, others = node.get("properties", {}), node.get("additionalProperties") or {}
    kept = list(value.items())[: max(node.get("maxProperties", MANY) - IN_BASE, IN_BASE)]
    return {key: longest(known.get(key, others), each, root) for key, each in kept}


def longest_profiles(changes: dict[str, Any]) -> dict[str, Any]:
    """Return changes of the base that break no limit of a profile's own."""
    schemas = {
        file: profile_schema(file.partition("/")[0].removesuffix("s"))
        for file in changes
        if "/" in file
    }
    return {file: longest(schemas[file], value, schemas[file]) for file, value in changes.items()}


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("name", LONG)
def test_long_list_is_no_fault_of_trainyard(name: str, release: str) -> None:
    """Whatever a profile lists, its objects fit their schemas, or a rule says at the profile why
    they would not."""
    changes = longest_profiles(LONG[name])
    platform = platform_of({**changes, CLUSTER: {**changes.get(CLUSTER, {}), **RELEASES[release]}})

    assert bool(unfit(platform)) == bool(limits(platform))


@pytest.mark.parametrize("release", RELEASES)
def test_limits_are_within_those_of_the_schema(release: str) -> None:
    """A LocalQueue's status, which no schema here has, may take fewer; a rehearsal's API server is
    asked for that."""
    queue = schema(release, "kueue.x-k8s.io/clusterqueue_v1beta2.json")["properties"]["spec"][
        "properties"
    ]
    group = queue["resourceGroups"]["items"]["properties"]
    flavors, resources = queue_limits(release)

    assert flavors <= group["flavors"]["maxItems"]
    assert resources <= group["coveredResources"]["maxItems"]
    assert resources <= group["flavors"]["items"]["properties"]["resources"]["maxItems"]


def test_limit_of_frameworks_is_that_of_the_operator() -> None:
    """Only where an operator installs Kueue."""
    spec = schema("openshift-ai-3.5", "kueue.openshift.io/kueue_v1.json")["properties"]["spec"][
        "properties"
    ]
    frameworks = spec["config"]["properties"]["integrations"]["properties"]["frameworks"]

    assert frameworks["maxItems"] == FRAMEWORKS_LIMIT


@pytest.mark.parametrize("release", RELEASES)
def test_queue_takes_as_many_pools_as_its_release(release: str) -> None:
    """One more is told at the pool that is too many, however many clusters and queues there are."""
    most, _ = queue_limits(release)
    assert limits(platform_of(on(release, pools(most)))) == []
    platform = platform_of(on(release, pools(most + 1)))
    (found,) = (each for each in check_meaning(platform) if "/too-many-" in each.rule)

    assert found.rule == "scheduling/too-many-pools-in-queue"
    assert found.at.path[:2] == ("quota", "prod-east")
    assert f"{most + 1} gpu pools of cluster prod-east; a queue allows {most}" in found.message


@pytest.mark.parametrize("release", RELEASES)
def test_queue_takes_as_many_resources_as_its_release(release: str) -> None:
    """A node has five beside its rails; with one fabric no other name helps."""
    _, most = queue_limits(release)
    assert limits(platform_of(on(release, rails(most - 5)))) == []
    found = [
        each
        for each in check_meaning(platform_of(on(release, rails(most - 4))))
        if "/too-many-" in each.rule
    ]

    assert [each.rule for each in found] == ["scheduling/too-many-resources-in-queue"] * 2
    assert all("`resources: " not in each.hint for each in found)


def test_two_fabrics_are_too_many_resources_only_where_they_are() -> None:
    """Kueue 0.16 takes 16 resources in a queue, 0.19 64; the hint names the edit, and with it
    nothing is told."""
    changes, _ = read_case(HERE / "scheduling/too-many-resources-in-queue/bad.yaml")
    (found,) = (each for each in check_meaning(platform_of(changes)) if "/too-many-" in each.rule)

    assert (
        "Set `resources: hdr` on fabric `ib`" in found.hint
        or "Set `resources: ib` on fabric `hdr`" in found.hint
    )
    assert limits(platform_of(on("kubernetes-1.36", changes))) == []
    for edit in ({"hdr": {"resources": "ib"}}, {"ib": {"resources": "hdr"}}):
        assert limits(platform_of(merged(changes, {CLUSTER: {"fabrics": edit}}))) == []


def queue_limits(release: str) -> tuple[int, int]:
    """Return how many flavors and resources the Kueue of a release takes in a queue."""
    return QUEUE_LIMITS[releases()[release].value["versions"]["kueue"]]


def on(release: str, changes: dict[str, Any]) -> dict[str, Any]:
    """Return changes on a release."""
    return {**changes, CLUSTER: {**changes.get(CLUSTER, {}), **RELEASES[release]}}


@pytest.mark.parametrize("release", RELEASES)
def test_operator_takes_fewer_frameworks_than_it_knows(release: str) -> None:
    """Kueue's own configuration has no limit."""
    words = profile_schema("cluster")["properties"]["frameworks"]["items"]["enum"]
    told = {
        number: limits(platform_of({CLUSTER: {**RELEASES[release], "frameworks": words[:number]}}))
        for number in (FRAMEWORKS_LIMIT, FRAMEWORKS_LIMIT + 1)
    }

    assert told[FRAMEWORKS_LIMIT] == []
    assert bool(told[FRAMEWORKS_LIMIT + 1]) == (release.startswith("openshift-ai-"))


def schema(release: str, file: str) -> dict[str, Any]:
    """Return a schema of a release."""
    content: dict[str, Any] = json.loads((schema_folder(release) / file).read_bytes())
    return content
