"""A cluster: defaults filled, everything sorted, storage of each kind."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from generator.model.cluster import Cluster
from tests.resolve.changes import ALLOCATIONS, CLUSTER, resolved

EMPTIED = ("fabrics", "cohorts", "priorities", "storage", "egress", "roles", "external")
"""What a cluster can do without; null takes it away."""


def cluster(changes: dict[str, Any]) -> Cluster:
    platform, found = resolved({CLUSTER: changes})
    assert found == ()
    return platform.sites[0].cluster


def test_short_cluster_has_the_defaults_of_its_release() -> None:
    """What a profile leaves out is what the release ships, or nothing."""
    gone: dict[str, Any] = {"teams/nlp.yaml": None, "teams/vision.yaml": None, ALLOCATIONS: {"prod-east": None}}
    shortest = {**dict.fromkeys(EMPTIED), "pools": {"dgx-h100": {"fabric": None}}}
    platform, found = resolved({**gone, CLUSTER: shortest})
    read = platform.sites[0].cluster

    assert found == ()
    assert (read.server, read.argocd_namespace) == ("https://kubernetes.default.svc", "openshift-gitops")
    assert (read.sharing, read.frameworks) == ("fair", ("BatchJob", "JobSet", "TrainJob"))
    assert (read.fabrics, read.cohorts, read.priorities, read.storage, read.egress) == ((), (), (), (), ())
    assert (read.operators, read.auditors) == ((), ())
    assert (dict(read.versions), dict(read.external)) == (dict(read.release.versions), dict(read.release.external))
    assert (read.pools[0].fabric, read.pools[0].topology, read.pools[0].reserve) == (None, "", 1)


def test_cluster_says_more_than_its_release() -> None:
    """Installed versions and owners are laid over the release's; the rest of them stays."""
    read = cluster({"installed": {"kueue": "0.17"}, "external": {"Namespace/openshift-dns": "us"}})

    assert read.versions == {**read.release.versions, "kueue": "0.17"}
    assert read.external["Namespace/openshift-dns"] == "us"
    assert read.release.external.keys() < read.external.keys()


@given(st.dictionaries(st.from_regex(r"[a-z]{1,3}", fullmatch=True), st.integers(-9, 9), min_size=1, max_size=6))
def test_priorities_come_lowest_first(values: dict[str, int]) -> None:
    """The order is that of the values, then of the names; none is lost."""
    read = cluster({"priorities": {"production": None, "batch": None, **values}}).priorities
    order = [(each.value, each.name) for each in read]

    assert order == sorted(order)
    assert {each.name: each.value for each in read} == values


def test_storage_of_each_kind() -> None:
    """Each kind keeps what it is made from and nothing of the others."""
    kinds = {each.name: each for each in cluster({}).storage}
    fields = {
        name: (each.kind, each.server, each.path, each.storage_class, each.endpoint, each.secret_store)
        for name, each in kinds.items()
    }

    assert fields == {
        "checkpoints": ("s3", "", "ml/teams", "", "https://s3.example.com", "vault"),
        "home": ("nfs", "nfs.example.com", "/export/home", "", "", ""),
        "imagenet": ("adopted", "", "", "cephfs", "", ""),
        "scratch": ("class", "", "", "cephfs", "", ""),
    }


@given(st.integers(0, 0xFFFF), st.integers(0, 0xFFFF))
def test_partitions_are_read_as_hexadecimal(first: int, last: int) -> None:
    """The range is kept as it is said, reversed ones included; a rule judges it."""
    (fabric,) = cluster({"fabrics": {"ib": {"partitions": f"0x{first:04x}-0x{last:04x}"}}}).fabrics

    assert (fabric.first_partition, fabric.last_partition, fabric.block) == (first, last, 20)


def test_egress_keeps_order_and_source() -> None:
    """A way out is everybody's unless it says whose."""
    ways = {"a": {"namespaces": ["x", "b"], "ports": [9, 1], "from": "jobs"}}
    first, second = cluster({"egress": ways}).egress

    assert (first.name, first.cidrs, first.namespaces, first.ports, first.source) == (
        "a",
        (),
        ("x", "b"),
        (9, 1),
        "jobs",
    )
    assert (second.name, second.cidrs, second.source) == ("object-store", ("203.0.113.0/28",), "all")


def test_allocations_of_a_cluster_that_is_gone_stay() -> None:
    """What was given stays taken: a section without cluster is read and not told."""
    held = {"partition": "0x0155", "addresses": "10.70.0.0/20"}
    platform, found = resolved({ALLOCATIONS: {"old-west": {"ib": {"nlp": held}}}})

    assert found == ()
    assert platform.allocations["old-west", "ib", "nlp"].partition == 0x155


def test_unknown_release_leaves_the_cluster_out() -> None:
    """With an error the platform lacks what could not be resolved."""
    platform, found = resolved({CLUSTER: {"release": "kubernetes-0"}})

    assert platform.sites == ()
    assert found[0].hint.startswith(("there is: ", "did you mean"))
