"""Objects of the site that keep their names: Argo CD takes them over, and claims stay bound."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.adoption.decided import USUAL, decide, write_runtime
from tests.adoption.sites import Body, binding, body, claim, flavor, local, node, priority, queue
from tests.cli.calls import Ended, edit
from tests.cli.fixtures import here, trainyard  # noqa: F401
from tests.rules.cases import platform_of
from trainyard.adoption.objects import MOST, POLICIES, WORKSPACES
from trainyard.model.names import NETWORK_POLICIES
from trainyard.render.site import render_site
from trainyard.schema.profiles import profile_schema

Call = Callable[..., Ended]
CLUSTER = "profiles/clusters/site.yaml"


def site(*more: Body) -> list[Body]:
    """One team, of which all has a name of the tree's, and what only looks like that."""
    pool = {"example.com/pool": "h100"}
    api = "kueue.x-k8s.io/v1beta1"
    levels = [{"nodeLabel": "example.com/rack"}, {"nodeLabel": "kubernetes.io/hostname"}]
    return [
        node("n1", labels={**pool, "example.com/rack": "r1"}),
        flavor("h100", pool, topologyName="racks"),
        flavor("spare", {"example.com/pool": "none"}),
        body(api, "Topology", "racks", spec={"levels": levels}),
        body(api, "Cohort", "lab", spec={}),
        queue("vision", "lab", {"h100": {"nvidia.com/gpu": "8"}}),
        local("vision", "jobs", "vision"),
        binding("vision", "edit", "Group:vision"),
        body("v1", "Namespace", "vision"),
        body("v1", "Namespace", "web"),
        priority("batch", 100),
        priority("Too_odd", 100),
        policy("vision", "default-deny"),
        policy("vision", "own"),
        policy("web", "default-deny"),
        *more,
    ]


def policy(namespace: str, name: str) -> Body:
    """Return a NetworkPolicy that closes a namespace."""
    spec = {"podSelector": {}, "policyTypes": ["Ingress"]}
    return body("networking.k8s.io/v1", "NetworkPolicy", name, namespace, spec=spec)


def drafted(
    trainyard: Call,  # noqa: F811
    here: Path,  # noqa: F811
    bodies: list[Body],
    release: str = "kubernetes-1.36",
) -> None:
    """Import a dump into an empty folder."""
    (here / "dump.json").write_text(json.dumps({"kind": "List", "items": bodies}), "utf-8")
    ended = trainyard("import", "dump.json", "--cluster", "site", "--release", release)
    assert ended.code == 1, ended


def adopted(here: Path) -> list[str]:  # noqa: F811
    """Return the entries of `adopt.objects`."""
    return re.findall(r"^    - (\S+)$", (here / CLUSTER).read_text("utf-8"), re.MULTILINE)


NAMES = [
    "Cohort/lab",
    "Namespace/vision",
    "NetworkPolicy/vision/default-deny",
    "PersistentVolumeClaim/vision/datasets",
    "ResourceFlavor/h100",
    "Topology/racks",
    "WorkloadPriorityClass/batch",
]


def test_names_that_the_tree_has_are_drafted(trainyard: Call, here: Path) -> None:  # noqa: F811
    """No LocalQueue, nothing of other namespaces, and no name that changes."""
    data = claim("vision", "datasets", "20Ti", "ReadWriteMany", "pv-datasets")
    drafted(trainyard, here, site(data))
    assert adopted(here) == NAMES


@pytest.mark.parametrize(
    ("release", "more"), [("kubernetes-1.36", set()), ("openshift-ai-3.5", {WORKSPACES})]
)
def test_policies_are_those_that_every_namespace_has(release: str, more: set[str]) -> None:
    """At each stage; a tree that lacks one refuses its name in `adopt`."""
    found: dict[str, set[str]] = {}
    for stage in ("observe", "warn", ""):
        moving = {"stage": stage, "until": "2099-12-31", "reason": "moves"}
        changes = {"teams/nlp.yaml": {"adopt": moving}} if stage else {}
        cluster = {"clusters/prod-east.yaml": {"release": release}}
        (rendered,) = platform_of({**cluster, **changes}).sites
        found |= {f"{stage} {each.namespace}": set() for each in rendered.spaces}
        for each in render_site(rendered):
            if each.kind.name == "NetworkPolicy" and each.unit.startswith("teams/"):
                found[f"{stage} {each.namespace}"].add(each.name)
    assert set.intersection(*found.values()) & {*NETWORK_POLICIES} == POLICIES | more


@pytest.mark.parametrize("release", ["kubernetes-1.36", "openshift-ai-3.5"])
def test_policy_of_workspaces_is_taken_where_the_tree_has_one(
    release: str,
    trainyard: Call,  # noqa: F811
    here: Path,  # noqa: F811
) -> None:
    drafted(trainyard, here, site(policy("vision", WORKSPACES)), release)
    taken_over = "NetworkPolicy/vision/workspaces" in adopted(here)
    assert taken_over == (release == "openshift-ai-3.5")


def test_more_names_than_a_profile_lists_are_a_choice(trainyard: Call, here: Path) -> None:  # noqa: F811
    """The draft has no list that `validate` refuses as too long."""
    spaces = [f"vision-{n:03}" for n in range(MOST // 4)]
    more = [
        found
        for each in spaces
        for found in (
            body("v1", "Namespace", each),
            local(each, "jobs", "vision"),
            *(policy(each, name) for name in POLICIES),
        )
    ]
    drafted(trainyard, here, site(*more))
    objects = profile_schema("cluster")["properties"]["adopt"]["properties"]["objects"]
    assert len(adopted(here)) == MOST == objects["maxItems"]
    profile = (here / CLUSTER).read_text("utf-8")
    left = len(NAMES) - 1
    assert f"    # choose: objects: {left} more, from NetworkPolicy/" in profile


def test_preflight_takes_the_drafts_over(trainyard: Call, here: Path) -> None:  # noqa: F811
    """Each entry is an object of the tree; without one, the finding is at the name's place."""
    data = claim("vision", "datasets", "20Ti", "ReadWriteMany", "pv-datasets")
    drafted(trainyard, here, site(data))
    generated(trainyard, here)
    made = (here / "overlays/site/teams/vision/persistentvolumeclaim-datasets.yaml").read_text()
    assert "storage: 20Ti\n  storageClassName: lustre\n" in made
    assert "volumeName" not in made
    # The old LocalQueue too: no held queue of the tree has its name yet.
    assert taken(trainyard) == []

    edit(here / CLUSTER, "    - Namespace/vision\n", "")
    assert trainyard("generate").code == 0
    assert ("Namespace", "profiles/teams/vision.yaml namespace") in taken(trainyard)


def generated(trainyard: Call, here: Path) -> None:  # noqa: F811
    """Make the choices of the drafts, and generate."""
    answers = {
        "external": "external: {StorageClass/lustre: storage, NodeLabel/example.com/rack: racks}",
        "Too_odd": "",
        "pools": "",
        "system": "system: {cpu: 10, memory: 61Gi, ephemeralStorage: 288Gi, pods: 1}",
    }
    assert decide(here / "profiles", {**USUAL, **answers}) == []
    write_runtime(here / "profiles")
    ended = trainyard("generate")
    assert ended.code == 0, ended.out


def test_first_merge_disturbs_nothing(trainyard: Call, here: Path) -> None:  # noqa: F811
    """As it is drafted: queues held, others' pods recorded, the team's namespace left open."""
    drafted(trainyard, here, site(claim("vision", "data", "20Ti", "ReadWriteMany", "pv-data")))
    generated(trainyard, here)
    tree = here / "overlays/site"
    assert "\n  stopPolicy: Hold\n" in (tree / "platform/clusterqueue-vision-gpu.yaml").read_text()
    for policy in ("pool-nodes", "team-namespaces"):
        file = f"platform/validatingadmissionpolicybinding-trainyard-{policy}.yaml"
        assert "validationActions:\n  - Audit\n" in (tree / file).read_text("utf-8")
    assert (tree / "teams/vision/networkpolicy-trainyard-open-until-enforced.yaml").exists()
    configuration = (tree / "operators/kueue-configuration.yaml").read_text("utf-8")
    assert "- key: kubernetes.io/metadata.name\n    operator: NotIn\n" in configuration
    shown = trainyard("cutover", "site").out
    assert "done: merge `adopt` and `state: held`" in shown
    assert "next: team vision: hold ClusterQueue vision" in shown


@pytest.mark.parametrize(
    ("release", "line"),
    [
        ("kubernetes-1.36", "  queues: site #"),
        ("openshift-ai-3.5", ""),
        ("", "  # choose: queues: site, if"),
    ],
)
def test_queues_go_on_where_the_tree_has_the_configuration_of_kueue(
    release: str,
    line: str,
    trainyard: Call,  # noqa: F811
    here: Path,  # noqa: F811
) -> None:
    (here / "dump.json").write_text(json.dumps({"kind": "List", "items": site()}), "utf-8")
    options = ("--release", release) if release else ()
    assert trainyard("import", "dump.json", "--cluster", "site", *options).code == 1
    text = (here / CLUSTER).read_text("utf-8")
    assert ("queues: site" in text) == bool(line)
    assert f"\n{line}" in text


def test_topology_of_the_host_alone_has_no_level_above_it(
    trainyard: Call,  # noqa: F811
    here: Path,  # noqa: F811
) -> None:
    """The schema refuses an empty list of levels."""
    bodies = site()
    topology = next(each for each in bodies if each["kind"] == "Topology")
    del topology["spec"]["levels"][0]
    drafted(trainyard, here, bodies)
    assert "\n  racks: {} # spec.levels of Topology racks\n" in (here / CLUSTER).read_text("utf-8")
    generated(trainyard, here)
    made = (here / "overlays/site/platform/topology-racks.yaml").read_text("utf-8")
    assert re.findall("nodeLabel: (.*)", made) == ["kubernetes.io/hostname"]


def taken(trainyard: Call) -> list[tuple[str, str]]:  # noqa: F811
    """Return kind and place of each object whose name is taken."""
    trainyard("preflight", "site", "--from", "dump.json", "--format", "json:p.json")
    found: list[dict[str, Any]] = json.loads(Path("p.json").read_text("utf-8"))["result"][
        "diagnostics"
    ]
    return [
        (each["message"].split()[0], f"{each['file']} {'.'.join(each['path'])}")
        for each in found
        if each["rule"] == "preflight/name-taken"
    ]


@pytest.mark.parametrize(
    ("more", "team", "cluster"),
    [
        ([], "storage:\n  data: 20Ti #", "  data: {class: lustre} #"),
        ([("volumeMode", "Block")], "# choose: storage: {data: {volume: pv", "  data: {adopted: "),
        ([("accessModes", ["ReadOnlyMany"])], "# choose: storage: {data: {volume", "{adopted: "),
        ([("storageClassName", "Odd.class")], "# choose: storage: {data: {volume", "{adopted: "),
        ([("resources", {"requests": {"storage": "20T"}})], "the tree's differ in", "{adopted: "),
        ([("storageClassName", None)], "# choose: storage: {data: {volume", "{adopted: "),
        ([("accessModes", ["ReadWriteMany", "ReadWriteOnce"])], "# choose: storage", "{adopted: "),
        ([("selector", {"matchLabels": {"a": "b"}})], "# choose: storage", "{adopted: "),
        ([("volumeAttributesClassName", "fast")], "# choose: storage", "{adopted: "),
        (
            [("resources", {"requests": {"storage": "20Ti"}, "limits": {"storage": "20Ti"}})],
            "# choose: storage",
            "{adopted: ",
        ),
    ],
)
def test_claim_stays_where_nothing_of_it_changes(
    more: list[tuple[str, Any]],
    team: str,
    cluster: str,
    trainyard: Call,  # noqa: F811
    here: Path,  # noqa: F811
) -> None:
    """Else the API server refuses the tree's claim: somebody decides about the data first."""
    data = claim("vision", "data", "20Ti", "ReadWriteMany", "pv-data")
    data["spec"] |= dict(more)
    drafted(trainyard, here, site(data))
    assert team in (here / "profiles/teams/vision.yaml").read_text("utf-8")
    assert cluster in (here / CLUSTER).read_text("utf-8")
    assert ("PersistentVolumeClaim/vision/data" in adopted(here)) == (not more)


@pytest.mark.parametrize("is_copy", [False, True])
def test_claim_that_names_its_volume_is_a_choice(
    trainyard: Call,  # noqa: F811
    here: Path,  # noqa: F811
    *,
    is_copy: bool,
) -> None:
    """The first sync would take the volume's name from it, and the API server refuses that.

    A claim that somebody wrote to a file and applied again has the annotation of a bound one.
    """
    data = claim("vision", "data", "20Ti", "ReadWriteMany", "pv-data")
    applied = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(data)}
    data["metadata"]["annotations"] = data["metadata"]["annotations"] | applied if is_copy else {}
    drafted(trainyard, here, site(data))
    assert "  data: {adopted: " in (here / CLUSTER).read_text("utf-8")
    assert "PersistentVolumeClaim/vision/data" not in adopted(here)


def test_claims_of_one_name_stay_together_or_not_at_all(
    trainyard: Call,  # noqa: F811
    here: Path,  # noqa: F811
) -> None:
    """Storage of a cluster has one class."""
    data = claim("vision", "data", "20Ti", "ReadWriteMany", "pv-data")
    other = claim("speech", "data", "1Ti", "ReadWriteMany", "pv-other")
    other["spec"]["storageClassName"] = "nfs"
    team = [queue("speech", "", {"h100": {"nvidia.com/gpu": "0"}}), local("speech", "j", "speech")]
    drafted(trainyard, here, site(data, other, *team))
    assert "  data: {adopted: " in (here / CLUSTER).read_text("utf-8")
    assert not [each for each in adopted(here) if each.startswith("PersistentVolumeClaim")]
