"""Evidence and READMEs say what is so on the cluster at hand."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.resolve.changes import together
from tests.rules.cases import platform_of
from tests.rules.test_fabrics import BOTH, EXCLUSIVE
from trainyard.model.platform import Site
from trainyard.render.evidence import Row, evidence
from trainyard.render.site import render_site
from trainyard.render.unit import evidence_page, health_checks, readme
from trainyard.render.views.cluster import ClusterView
from trainyard.yaml_io.emitter import emit

CLUSTER = "clusters/prod-east.yaml"
MEASURES = {
    "accessControl": "1",
    "audit": "2",
    "dedicatedNodes": "3",
    "encryptedStorage": "4",
    "encryptionInTransit": "5",
    "fips": "6",
    "networkIsolation": "7",
}
REGULATED: dict[str, Any] = {
    "compliance/iso.yaml": {"title": "ISO", "controls": MEASURES},
    "teams/nlp.yaml": {"compliance": "iso", "encryptionInTransit": False},
    "teams/vision.yaml": {"compliance": "iso", "encryptionInTransit": False},
}
WITHOUT_FABRIC: dict[str, Any] = {
    "hardware/cpu.yaml": {
        "extends": "cpu-node",
        "cpu": {"sockets": 2, "cores": 64, "threads": 128},
        "memory": "512Gi",
        "ephemeralStorage": "894Gi",
        "labels": {"ml.example.com/kind": "cpu"},
        "taint": "ml.example.com/cpu",
    },
    CLUSTER: {"pools": {"dgx-h100": None, "cpu": {"nodes": 9, "reserve": 1}}, "fabrics": None},
    "runtimes/openmpi-cuda.yaml": {"hardware": ["cpu"], "libraries": {"cuda": None}},
    "teams/nlp.yaml": {
        "quota": {"prod-east": {"dgx-h100": None, "cpu": {"nodes": 4, "lend": "none"}}}
    },
    "teams/vision.yaml": {
        "quota": {"prod-east": {"dgx-h100": None, "cpu": {"nodes": 4, "lend": "none"}}}
    },
    "allocations.yaml": {"prod-east": None},
}


KUBERNETES = {CLUSTER: {"release": "kubernetes-1.36"}}
ROCE_HERE: dict[str, Any] = {
    CLUSTER: {
        "release": "kubernetes-1.36",
        "fabrics": {
            "ib": {"link": "roce", "partitions": None, "vlans": "100-199", "trafficClass": 106}
        },
    },
    "allocations.yaml": {
        "prod-east": {
            "ib": {
                "nlp": {"partition": None, "vlan": 101},
                "vision": {"partition": None, "vlan": 102},
            }
        }
    },
}


def site(*changes: dict[str, Any]) -> Site:
    """Return the base cluster after some changes."""
    return platform_of(together(REGULATED, *changes)).sites[0]


def rows(*changes: dict[str, Any]) -> dict[str, Row]:
    """Return what answers each measure for team nlp, by control."""
    cluster = site(*changes)
    (section,) = (each for each in evidence(cluster, render_site(cluster)) if each.team == "nlp")
    return {row.control: row for row in section.rows}


def test_partition_is_certified_where_there_is_one() -> None:
    """With a fabric the team's own number is named, and the object that carries it."""
    row = rows()["7"]

    assert "partition 0x0101 of the team's own on fabric ib" in row.how
    assert any("networkattachmentdefinition" in path for path in row.objects)


@pytest.mark.parametrize(
    ("changes", "state", "how"),
    [
        (EXCLUSIVE, "answered", "no other team uses RDMA on pool dgx-h100 of fabric ib"),
        (
            BOTH,
            "not answered",
            "RDMA passes between teams nlp, vision on pool dgx-h100 of fabric ib",
        ),
    ],
)
def test_a_fabric_of_others_is_certified_for_one_team_alone(
    changes: dict[str, Any], state: str, how: str
) -> None:
    """What a waiver lifts stays open in the evidence."""
    row = rows(changes)["7"]

    assert row.state == state
    assert how in row.how
    assert "partition" not in row.how


def test_no_partition_is_certified_without_a_fabric() -> None:
    """Nothing separates teams that are on no fabric, and nothing needs to: the page says so."""
    cluster = site(WITHOUT_FABRIC)
    page = evidence_page(cluster, render_site(cluster))["COMPLIANCE.md"]

    assert "no fabric: its jobs use the pod network only" in rows(WITHOUT_FABRIC)["7"].how
    for word in ("partition", "VLAN", "RDMA", "InfiniBand", "RoCE"):
        assert word.lower() not in page.replace("Partitions/ib", "").lower()


@pytest.mark.parametrize(
    ("change", "state", "how"),
    [
        ({"storage": None}, "not applicable", "the team has no claim and no bucket"),
        (
            {"storage": {"checkpoints": None, "home": None}},
            "not answered",
            "storage that is not stated to be encrypted: scratch",
        ),
    ],
)
def test_storage_is_answered_by_what_the_team_has(
    change: dict[str, Any], state: str, how: str
) -> None:
    """Without a claim there is nothing to encrypt; what no profile states is not claimed."""
    row = rows({"teams/nlp.yaml": change})["4"]

    assert (row.state, row.how) == (state, how)


ENCRYPTED: dict[str, Any] = {
    CLUSTER: {
        "storage": {
            name: {"encrypted": True} for name in ("home", "scratch", "checkpoints", "imagenet")
        }
    }
}


def test_encrypted_storage_names_the_profile_that_states_it() -> None:
    """Encryption is a statement of the cluster's profile, for each storage by name; nobody claims
    of another."""
    row = rows(ENCRYPTED)["4"]

    assert row.state == "answered"
    assert row.how == (
        "`profiles/clusters/prod-east.yaml` states `encrypted: true` of the team's storage: "
        "checkpoints, home, scratch; admission refuses its admins' claims of any other class"
    )
    assert "platform/validatingadmissionpolicy-trainyard-tenant-objects.yaml" in row.objects


def test_what_admins_may_claim_must_be_encrypted_too() -> None:
    """A class that only `claims` names is the team's storage as well."""
    row = rows(
        ENCRYPTED,
        {
            CLUSTER: {"storage": {"fast": {"class": "nvme"}}},
            "teams/nlp.yaml": {"claims": {"fast": "1Ti"}},
        },
    )["4"]

    assert (row.state, row.how) == (
        "not answered",
        "storage that is not stated to be encrypted: fast",
    )


TCP: dict[str, Any] = {"runtimes/openmpi-cuda.yaml": {"fabric": "tcp"}}


@pytest.mark.parametrize(
    ("changes", "how"),
    [
        ({}, "by RDMA over infiniband, which nothing encrypts"),
        (TCP, "over the pod network, which does not encrypt"),
        (
            {**TCP, CLUSTER: {"networks": {"encrypted": True}}},
            "over the pod network, which is stated to encrypt between nodes",
        ),
    ],
)
def test_transit_names_the_network_between_ranks(changes: dict[str, Any], how: str) -> None:
    """Each runtime's way is named; ssh only where MPI ranks are started by it."""
    told = rows(changes)["5"].how
    torch = {"launcher": "torchrun", "libraries": {"openmpi": None, "torch": "2.6.0"}}

    assert f"data between nodes goes {how}" in told
    assert "ssh" in told
    assert "ssh" not in rows(changes, {"runtimes/openmpi-cuda.yaml": torch})["5"].how


def test_team_without_a_runtime_sends_nothing() -> None:
    """One node can't run an MPI job, so there is no data between nodes."""
    row = rows(
        {"teams/nlp.yaml": {"quota": {"prod-east": {"dgx-h100": {"nodes": 1}}}, "largestJob": None}}
    )["5"]

    assert (row.state, row.how, row.objects) == ("not applicable", "the team can start no job", ())


def test_fips_is_what_the_cluster_states() -> None:
    """Algorithms of ssh concern MPI only."""
    torch = {
        "runtimes/openmpi-cuda.yaml": {
            "launcher": "torchrun",
            "libraries": {"openmpi": None, "torch": "2.6.0"},
        }
    }
    fips = {CLUSTER: {"fips": True}}

    assert rows()["6"].state == "not answered"
    assert "ssh" in rows(fips)["6"].how
    assert "ssh" not in rows(fips, torch)["6"].how


def test_dedicated_nodes_name_who_holds_them() -> None:
    """Loans, foreign teams and a missing taint each undo it."""
    kept = {"quota": {"prod-east": {"dgx-h100": {"lend": "none"}}}}
    alone = {"teams/nlp.yaml": kept, "teams/vision.yaml": kept}
    foreign = {"teams/vision.yaml": {"compliance": None, "encryptionInTransit": None}}

    assert rows(WITHOUT_FABRIC)["3"].state == "answered"
    assert rows()["3"].state == "not answered"
    assert rows(alone)["3"].state == "answered"
    assert "held by: nlp, vision, all under the regulation" in rows(alone)["3"].how
    assert rows(alone, foreign)["3"].state == "not answered"
    assert rows(WITHOUT_FABRIC, {"hardware/cpu.yaml": {"taint": None}})["3"].state == "not answered"


def _with_a_second_pool(labels: dict[str, str]) -> dict[str, Any]:
    """Return a pool beside the team's, of nodes with the same taint, without quota of the team."""
    return together(
        {
            f"teams/{team}.yaml": {"quota": {"prod-east": {"dgx-h100": {"lend": "none"}}}}
            for team in ("nlp", "vision")
        },
        {
            "hardware/other.yaml": {"extends": "nvidia-dgx-h100", "labels": labels},
            CLUSTER: {"pools": {"other": {"nodes": 2, "reserve": 2, "fabric": "ib"}}},
        },
    )


@pytest.mark.parametrize(
    ("labels", "state", "how"),
    [
        (
            {"ml.example.com/node-type": "other"},
            "answered",
            (
                "; pods that are admitted to other tolerate it; the node selector that Kueue adds "
                "to them keeps them away"
            ),
        ),
        (
            {"ml.example.com/kind": "other"},
            "not answered",
            (
                "; pods that are admitted to other tolerate it,"
                " and the node selector of other does not exclude these nodes"
            ),
        ),
    ],
)
def test_taint_of_several_pools_does_not_keep_their_pods_apart(
    labels: dict[str, str], state: str, how: str
) -> None:
    """Pods of a pool with the same taint tolerate it: only labels that contradict each other keep
    them away."""
    row = rows(_with_a_second_pool(labels))["3"]

    assert row.state == state
    assert row.how.endswith(
        "the taint nvidia.com/gpu, which the nodes' owner sets, keeps away pods that do not "
        f"tolerate it{how}"
    )
    assert "platform/resourceflavor-other.yaml" in row.objects


def test_access_names_roles_of_the_platform_too() -> None:
    """Operators and auditors of the platform have roles in the team's namespaces."""
    how = rows()["1"].how

    assert "the team's groups and service accounts have roles in its own namespaces" in how
    assert (
        "the platform's groups have roles in every namespace: trainyard-auditor, trainyard-operator"
        in how
    )
    assert "platform's groups" not in rows({CLUSTER: {"roles": None}})["1"].how
    bindings = [path for path in rows()["1"].objects if "catalog-viewer-" in path]
    assert bindings == ["platform/clusterrolebinding-trainyard-catalog-viewer-nlp.yaml"]


def test_what_no_object_answers_is_not_answered() -> None:
    """An object that is missing is not made up for by a sentence."""
    cluster = site(KUBERNETES)
    gone = ("audit-policy", "default-deny", "catalog-viewer")
    few = [each for each in render_site(cluster) if not any(name in each.path for name in gone)]
    (section,) = (each for each in evidence(cluster, few) if each.team == "nlp")
    states = {row.control: row.state for row in section.rows}

    assert "catalog-viewer" in rows()["1"].how
    assert all("catalog-viewer" not in row.how for row in section.rows)
    assert (states["2"], states["7"]) == ("not answered", "not answered")


def test_openshift_records_by_a_profile_of_its_own() -> None:
    """APIServer/cluster takes no audit policy, so the tree has none, and the page and the README
    name the profile."""
    cluster = site({CLUSTER: {"external": {"AuditLog/siem": "security team"}}})
    (section,) = (each for each in evidence(cluster, render_site(cluster)) if each.team == "nlp")
    how = next(row.how for row in section.rows if row.control == "2")

    assert "WriteRequestBodies" in how
    assert how.endswith("the log is kept by: security team")
    assert '"profile":"WriteRequestBodies"' in readme(cluster)
    assert not [each for each in render_site(cluster) if "audit-policy" in each.path]


@pytest.mark.parametrize("release", ["kubernetes-1.36", "openshift-ai-3.5"])
def test_audit_is_not_answered_where_nobody_sets_what_is_recorded(release: str) -> None:
    """Whatever a provider records, no object of the tree shows it."""
    change = {"release": release, "unavailable": ["api-server-flags"]}
    row = rows({CLUSTER: change})["2"]

    assert row.state == "not answered"
    assert "nobody at the site sets what the API server records" in row.how


def test_spaces_of_a_team_are_all_covered() -> None:
    """A further namespace is named by the audit, and denied by default."""
    found = rows({"teams/nlp.yaml": {"spaces": {"dev": {}}}}, KUBERNETES)

    assert "team-nlp, team-nlp-dev" in found["2"].how
    assert found["7"].state == "answered"


def test_readme_of_a_cluster_without_a_fabric_names_none() -> None:
    """Neither its operators, nor partitions, nor GPUs where there are none."""
    text = readme(site(WITHOUT_FABRIC))

    assert "The cluster has no fabric: jobs use the pod network only." in text
    for word in ("sriov", "partition", "vlan", "rdma", "infiniband", "nvidia", "gpuOperator"):
        assert word.lower() not in text.replace("Partitions/ib", "").lower()


_FABRIC = re.compile(
    r"gpu|nvidia|sriov|sr-iov|infiniband|rdma|mellanox|cni\.cncf|network-attachment", re.IGNORECASE
)
_LIMITS = (
    "/test-ranks",
    "configmap-trainjob-limits-",
    "validatingadmissionpolicy-trainyard-pool-nodes",
    "validatingadmissionpolicy-trainyard-trainjob-limits",
)
"""They count GPUs, and count none here; one names operators that act on any node."""


@pytest.mark.parametrize("release", ["kubernetes-1.36", "openshift-ai-3.5"])
def test_cluster_without_gpus_and_fabrics_has_nothing_of_them(release: str) -> None:
    """Its objects, projects, roles and health checks name no GPU, no SR-IOV and no network of
    another kind."""
    cpu = {CLUSTER: {**WITHOUT_FABRIC[CLUSTER], "release": release}}
    cluster = site(WITHOUT_FABRIC, cpu)
    texts = {each.path: emit(each.body).decode() for each in render_site(cluster)}
    texts |= {"health": emit(health_checks(cluster)[1]).decode(), "README.md": readme(cluster)}
    named = {path: found[0] for path, text in texts.items() if (found := _FABRIC.search(text))}
    assert {
        path: word for path, word in named.items() if not any(name in path for name in _LIMITS)
    } == {}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (WITHOUT_FABRIC, {"kube-system"}),
        ({}, {"gpu-operator", "kube-system", "nvidia-network-operator"}),
        (
            {
                CLUSTER: {
                    "monitoring": {"stack": "prometheus-operator", "namespace": "observability"}
                }
            },
            {"gpu-operator", "kube-system", "nvidia-network-operator", "observability"},
        ),
        (
            {CLUSTER: {"release": "openshift-ai-3.5"}},
            {"kube-*", "nvidia-gpu-operator", "nvidia-network-operator", "openshift-*"},
        ),
    ],
)
@pytest.mark.parametrize("stated", [(), ("gpu-burn",)])
def test_daemons_are_only_where_they_are_declared(
    changes: dict[str, Any], expected: set[str], stated: tuple[str, ...]
) -> None:
    """A name of the release's that this cluster has no use for would be free for whoever takes
    it."""
    base = {"release": "kubernetes-1.36", "monitoring": None, "systemNamespaces": [*stated]}
    own = together({CLUSTER: base}, changes)
    writers = ClusterView(site(own).cluster).writers

    assert set(writers.daemon_namespaces) == expected | {*stated}
    for name in writers.daemon_namespaces:
        for text in (writers.is_daemon, writers.names_trusted, writers.is_daemon_account):
            assert f"{name.removesuffix('*')}'" in text


@pytest.mark.parametrize(
    ("changes", "needed", "absent"),
    [
        (
            {},
            [
                "trainer.managementState: Managed",
                "cert-manager",
                "ib-kubernetes",
                "virt_enabled",
                "DMA-BUF",
            ],
            ["PFC"],
        ),
        (
            ROCE_HERE,
            ["PFC or ECN", "nvIpam", "which is DSCP 26"],
            ["cert-manager", "ib-kubernetes", "whereabouts"],
        ),
        (
            WITHOUT_FABRIC,
            ["trainer.managementState: Managed"],
            ["whereabouts-shim", "DMA-BUF", "Node Feature"],
        ),
    ],
    ids=["infiniband", "roce", "cpu"],
)
def test_prerequisites_are_those_of_the_cluster(
    changes: dict[str, Any], needed: list[str], absent: list[str]
) -> None:
    """Each cluster's README lists what it uses, in the order of installation, and nothing else."""
    text = readme(site(changes))
    assert [word for word in needed if word not in text] == []
    assert [word for word in absent if word in text.replace("IPReconciler/whereabouts", "")] == []
    places = [
        text.index(word)
        for word in ("JobSet", "GPU operator", "SR-IOV network operator")
        if word in text
    ]
    assert places == sorted(places)


@pytest.mark.parametrize(("volume", "told"), [("home", True), ("scratch", False)])
def test_readme_has_the_demands_of_kubelet_on_nfs(volume: str, told: bool) -> None:
    """A server that squashes root refuses the folder of a job, whose pods then never start."""
    steps = {"image": f"example.com/steps@sha256:{'a' * 64}", "volume": volume, "dataset": True}
    text = readme(site({"runtimes/openmpi-cuda.yaml": {"initialize": steps}}))

    assert ("must not squash root" in text) is told
    assert "All namespaces of a team share its folder." in text


def test_readme_counts_one_node_as_one() -> None:
    """A pool of one node has one."""
    text = readme(site({CLUSTER: {"pools": {"dgx-h100": {"nodes": 1, "reserve": 0}}}}))

    assert "- 1 node of pool `dgx-h100` carries" in text


def test_readme_without_teams_promises_no_samples() -> None:
    """There is nothing to copy."""
    gone = {"teams/nlp.yaml": {"state": "retired"}, "teams/vision.yaml": {"state": "retired"}}

    assert "samples/" in readme(site())
    assert "samples/" not in readme(site(gone))


def _lines(text: str, word: str) -> list[str]:
    """Return the items of the page's lists, and the rows of its tables, that hold a word."""
    lines = map(str.strip, text.splitlines())
    return [line for line in lines if line.startswith(("| ", "- ")) and word in line]


def test_readme_has_the_quota_of_a_team_once() -> None:
    """Namespaces of a team share its quota: a line for each would read as a sum."""
    text = readme(site({"teams/nlp.yaml": {"spaces": {"dev": {"largestJob": {"nodes": 2}}}}}))
    nlp = text.partition("### nlp\n")[2].partition("### vision\n")[0]

    assert _lines(nlp, "of dgx-h100") == [
        "- Queue `gpu` has 4 nodes of dgx-h100, may borrow 0 and lends 4."
    ]
    dev = nlp.partition("- `team-nlp-dev`, queue `gpu` or no label, runs jobs of at most:")[2]
    assert "- 2 nodes with `openmpi-cuda-v1-dgx-h100`" in dev


def test_readme_shows_that_a_team_is_draining() -> None:
    """Its queues evict and hold, so no job of it runs, however large."""
    text = readme(site({"teams/nlp.yaml": {"state": "draining"}}))

    assert "### nlp\n\nHere team nlp is draining.\n" in text
    assert "`team-nlp`, queue `gpu` or no label, runs nothing, while team nlp is draining." in text
    assert "one that is draining evicts them too." in text
    assert "### vision\n\nThe team is active.\n" in text
    assert "draining" not in readme(site())


def test_readme_names_the_folders_that_volumes_mount() -> None:
    """A folder for each team with a volume on NFS, and no other; further namespaces of a team share
    it."""
    cluster = site(
        {
            "teams/nlp.yaml": {"spaces": {"dev": {"storage": {"home": "100Gi"}}}},
            "teams/vision.yaml": {"storage": None},
        }
    )
    volumes = [
        each.body["spec"] for each in render_site(cluster) if each.kind.name == "PersistentVolume"
    ]
    mounted = {
        (f"{each['nfs']['server']}:{each['nfs']['path']}", each["claimRef"]["namespace"])
        for each in volumes
    }

    assert _lines(readme(cluster), "nfs.") == [
        "- `nfs.corp.internal:/export/home/nlp` for `team-nlp`, `team-nlp-dev`"
    ]
    assert mounted == {
        ("nfs.corp.internal:/export/home/nlp", name) for name in ("team-nlp", "team-nlp-dev")
    }
    assert "annotation `openshift.io/sa.scc.supplemental-groups`" in readme(cluster)


def test_readme_without_a_volume_on_nfs_asks_for_no_folder() -> None:
    """An export that no team uses needs nothing."""
    assert "owner of NFS" in readme(site())
    assert "owner of NFS" not in readme(
        site({f"teams/{name}.yaml": {"storage": None} for name in ("nlp", "vision")})
    )


def test_readme_names_the_group_that_writes_where_it_is_known() -> None:
    """On plain Kubernetes the pods of every team have one group."""
    assert "Each must be writable by group 1000." in readme(
        site({CLUSTER: {"release": "kubernetes-1.36", "argocd": None}})
    )


_CLEANUP = {
    CLUSTER: {
        "finishedJobs": {"keep": "36h", "image": f"registry.example.com/kubectl@sha256:{'1' * 64}"}
    }
}


def test_readme_explains_what_happens_to_finished_jobs() -> None:
    """With a clean-up when they go, and without one how to delete them before the quota is full."""
    assert "its pods and logs, 36h after it completed or failed" in readme(site(_CLEANUP))
    assert "At 100 TrainJobs in a namespace its quota refuses new ones" in readme(site())


def test_account_of_the_cleanup_is_not_the_teams() -> None:
    """The platform's account has its own sentence."""
    told = "; the platform's account finished-jobs lists and deletes TrainJobs there"
    assert rows(_CLEANUP)["1"].how == f"{rows()['1'].how}{told}"
