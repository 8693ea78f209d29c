"""A cluster: defaults filled, everything sorted, storage of each kind."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.resolve.changes import ALLOCATIONS, CLUSTER, reported, resolved, together
from tests.resolve.changes import ROCE as ROCE_BASE
from trainyard.model.cluster import Cluster
from trainyard.model.link import ROCE
from trainyard.profiles.read import other_releases, releases
from trainyard.render.site import render_site
from trainyard.render.views.release import FinishedJobsView
from trainyard.resolve.release import resolve_others
from trainyard.rules.fabric.segments_of_another_link import RULE as SEGMENTS_OF_ANOTHER_LINK

SETTINGS = "trainyard.yaml"
EMPTIED = ("fabrics", "cohorts", "priorities", "storage", "egress", "roles", "external")
"""What a cluster can do without; null takes it away."""


def cluster(changes: dict[str, Any]) -> Cluster:
    platform, found = resolved({CLUSTER: changes})
    assert found == ()
    return platform.sites[0].cluster


def test_short_cluster_has_the_defaults_of_its_release() -> None:
    """What a profile leaves out is what the release ships, or nothing."""
    gone: dict[str, Any] = {
        "teams/nlp.yaml": None,
        "teams/vision.yaml": None,
        ALLOCATIONS: {"prod-east": None},
    }
    shortest = {**dict.fromkeys(EMPTIED), "pools": {"dgx-h100": {"fabric": None}}}
    platform, found = resolved({**gone, CLUSTER: shortest})
    read = platform.sites[0].cluster

    assert found == ()
    assert (read.server, read.argocd_namespace) == (
        "https://kubernetes.default.svc",
        "openshift-gitops",
    )
    assert (read.sharing, read.frameworks) == ("fair", ("BatchJob", "JobSet", "TrainJob"))
    assert (read.fabrics, read.cohorts, read.priorities, read.storage, read.egress) == (
        (),
        (),
        (),
        (),
        (),
    )
    assert (read.operators, read.auditors) == ((), ())
    assert (dict(read.versions), dict(read.external)) == (
        dict(read.release.versions),
        dict(read.release.external),
    )
    assert (read.pools[0].fabric, read.pools[0].reserve, read.pools[0].preference) == (None, 1, 0)
    assert read.fips is False


def test_cluster_adds_to_its_release() -> None:
    """Installed versions and owners are laid over the release's; the rest of them stays."""
    read = cluster({"installed": {"kueue": "0.17"}, "external": {"Namespace/openshift-dns": "us"}})

    assert read.versions == {**read.release.versions, "kueue": "0.17"}
    assert read.external["Namespace/openshift-dns"] == "us"
    assert read.release.external.keys() < read.external.keys()


@given(
    st.dictionaries(
        st.from_regex(r"[a-z]{1,3}", fullmatch=True), st.integers(-9, 9), min_size=1, max_size=6
    )
)
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
        name: (
            each.kind,
            each.server,
            each.path,
            each.storage_class,
            each.endpoint,
            each.secret_store,
        )
        for name, each in kinds.items()
    }

    assert fields == {
        "checkpoints": ("s3", "", "ml/teams", "", "https://s3.corp.internal", "vault"),
        "home": ("nfs", "nfs.corp.internal", "/export/home", "", "", ""),
        "imagenet": ("adopted", "", "", "trainyard-adopted", "", ""),
        "scratch": ("class", "", "", "cephfs", "", ""),
    }


@given(st.integers(0, 0xFFFF), st.integers(0, 0xFFFF))
def test_partitions_are_read_as_hexadecimal(first: int, last: int) -> None:
    """The range is kept as it is stated, reversed ones included; a rule judges it."""
    (fabric,) = cluster(
        {"fabrics": {"ib": {"partitions": f"0x{first:04x}-0x{last:04x}"}}}
    ).rail_fabrics

    assert (fabric.first_segment, fabric.last_segment, fabric.block) == (first, last, 20)


@given(st.integers(1, 9999), st.integers(1, 9999))
def test_vlans_are_read_as_decimal(first: int, last: int) -> None:
    """On RoCE the range is of VLANs, kept as it is stated; a rule judges it."""
    (fabric,) = _roce(vlans=f"{first}-{last}").rail_fabrics

    assert (fabric.link, fabric.first_segment, fabric.last_segment) == (ROCE, first, last)


def _roce(**fields: Any) -> Cluster:
    platform, found = resolved(together(ROCE_BASE, {CLUSTER: {"fabrics": {"ib": fields}}}))
    assert found == ()
    return platform.sites[0].cluster


def test_fabric_leaves_the_drivers_own() -> None:
    """Neither MTU nor traffic class is set unless it is stated; 0 is a traffic class, and not the
    driver's."""
    (plain,) = cluster({}).rail_fabrics
    (stated,) = _roce(mtu=9000, trafficClass=0).rail_fabrics

    assert (plain.mtu, plain.traffic_class) == (0, -1)
    assert (stated.mtu, stated.traffic_class) == (9000, 0)


@pytest.mark.parametrize(
    ("ranges", "at", "message"),
    [
        (
            {"partitions": None},
            "ib/partitions",
            "infiniband and has no `partitions`",
        ),
        (
            {"vlans": "2-9"},
            "ib/vlans",
            "infiniband, whose range is `partitions`, not `vlans`",
        ),
        (
            {"link": "roce", "partitions": None},
            "ib/vlans",
            "roce and has no `vlans`",
        ),
        (
            {"link": "roce", "vlans": "2-9", "partitions": "0x0001-0x0002"},
            "ib/partitions",
            "roce, whose range is `vlans`, not `partitions`",
        ),
    ],
)
def test_fabric_has_the_range_of_its_link(ranges: dict[str, Any], at: str, message: str) -> None:
    """A range of the other link, or none, is reported once, at its key."""
    held = {
        team: {"vlan": 101, "partition": None}
        for team in ("nlp", "vision")
        if ranges.get("link") == "roce"
    }
    _, found = resolved(
        {CLUSTER: {"fabrics": {"ib": ranges}}, ALLOCATIONS: {"prod-east": {"ib": held}}}
    )

    assert {each.rule for each in found} == {SEGMENTS_OF_ANOTHER_LINK.id}
    assert reported(found) == [(CLUSTER, f"(fabrics/{at})", f"fabric `ib` is {message}")]


def test_priority_may_have_a_deadline() -> None:
    """A number is a value without one; with one, the deadline is in seconds."""
    batch, production = cluster(
        {"priorities": {"batch": {"value": 1, "deadline": "36h"}, "production": 1000}}
    ).priorities

    assert (batch.value, batch.deadline) == (1, 36 * 60 * 60)
    assert (production.value, production.deadline) == (1000, 0)


def test_allocation_has_partition_or_vlan() -> None:
    """Partition keys are hexadecimal text, VLANs are numbers; both are segments."""
    held: dict[str, Any] = {
        "old-west": {"ib": {"nlp": {"partition": "0x0155", "addresses": "10.70.0.0/20"}}}
    }
    held |= {"old-east": {"eth": {"nlp": {"vlan": 155, "addresses": "10.71.0.0/20"}}}}
    platform, found = resolved({ALLOCATIONS: held})

    assert found == ()
    assert platform.allocations["old-west", "ib", "nlp"].segment == 0x155
    assert platform.allocations["old-east", "eth", "nlp"].segment == 155


def test_egress_keeps_order_and_source() -> None:
    """An egress rule is for all pods unless it states which."""
    ways = {"a": {"namespaces": ["x", "b"], "ports": [9, 1], "from": "jobs"}}
    first, second = cluster({"egress": ways}).egress

    assert (first.name, first.cidrs, first.namespaces, first.ports, first.source) == (
        "a",
        (),
        ("x", "b"),
        (9, 1),
        "jobs",
    )
    assert (second.name, second.cidrs, second.source) == (
        "object-store",
        ("203.0.113.0/28",),
        "all",
    )


def test_allocations_of_a_cluster_that_is_gone_stay() -> None:
    """What was given stays taken: a section without cluster is read and not reported."""
    held = {"partition": "0x0155", "addresses": "10.70.0.0/20"}
    platform, found = resolved({ALLOCATIONS: {"old-west": {"ib": {"nlp": held}}}})

    assert found == ()
    assert platform.allocations["old-west", "ib", "nlp"].segment == 0x155


def test_unknown_release_leaves_the_cluster_out() -> None:
    """With an error the platform lacks what could not be resolved."""
    platform, found = resolved({CLUSTER: {"release": "rancher-2"}})

    assert platform.sites == ()
    assert found[0].hint == (
        f"there is: {', '.join(sorted(releases()))}. "
        "Another one is made by `trainyard release new`."
    )


@pytest.mark.parametrize(
    ("name", "reason", "instead"),
    [
        ("openshift-ai-2.25", "before 3.2 has no Trainer", "Upgrade OpenShift AI"),
        ("openshift-ai-3.0", "before 3.2 has no Trainer", "Upgrade OpenShift AI"),
        ("openshift-ai-3.2", "writes no NetworkPolicy for a job", "Upgrade OpenShift AI to 3.3"),
        ("openshift-ai-3.3", "are those of 3.4", "Write `openshift-ai-3.4`."),
        ("openshift-ai-3.6", "brings Trainer 2.3", "Keep the cluster on 3.5"),
        ("openshift-ai-4", "newer than this Trainyard", "A newer Trainyard"),
        ("kubernetes-1.29", "has no ValidatingAdmissionPolicy", "Upgrade Kubernetes to 1.34"),
        ("kubernetes-1.33", "no set of operators was tried", "--from kubernetes-1.34"),
        ("kubernetes-1.37", "newer than this Trainyard", "--from kubernetes-1.36"),
        ("kubernetes-0", "has no ValidatingAdmissionPolicy", "Upgrade Kubernetes to 1.34"),
    ],
)
def test_version_without_a_release_is_refused_with_the_reason(
    name: str, reason: str, instead: str
) -> None:
    """No neighbour is proposed as what was meant."""
    platform, found = resolved({CLUSTER: {"release": name}})

    assert platform.sites == ()
    assert found[0].message.startswith(f"there is no release `{name}`: ")
    assert reason in found[0].message
    assert instead in found[0].hint
    assert "did you mean" not in found[0].hint


def test_slip_in_the_name_of_a_release_is_none_of_a_version() -> None:
    _, found = resolved({CLUSTER: {"release": "openshft-ai-3.5"}})

    assert "did you mean `openshift-ai-3.5`?" in found[0].hint


def test_no_release_is_one_of_those_that_are_refused() -> None:
    """Nor does a row tell of a release that there is not."""
    rows = resolve_others(other_releases())

    assert [name for name in releases() for row in rows if row.holds(name)] == []
    told = {name for row in rows for name in re.findall(r"`([a-z-]+-\d[\d.]*)`", row.instead)}
    assert told <= releases().keys()


@pytest.mark.parametrize(
    ("pull_secret", "names"), [({}, []), ({"pullSecret": "registry-pull"}, ["registry-pull"])]
)
def test_finished_jobs_are_kept_for_seconds(pull_secret: dict[str, str], names: list[str]) -> None:
    """The secret of its image is made in our own namespace; without the key finished jobs stay."""
    fields = {
        "keep": "36h",
        "image": f"registry.example.com/kubectl@sha256:{'1' * 64}",
        **pull_secret,
    }
    cleanup = cluster({"finishedJobs": fields}).finished_jobs

    assert cleanup is not None
    view = FinishedJobsView(cleanup)
    assert (cleanup.keep, view.keep_text, view.keep_display) == (129600, "129600", "36h")
    assert [each["name"] for each in view.image_pull_secrets] == names
    assert not cleanup.pull_secret or cleanup.pull_secret.namespace == "trainyard-system"
    assert cluster({}).finished_jobs is None


def test_a_cluster_has_one_domain_wherever_it_is_stated() -> None:
    """Its objects are those of a repository with that domain, to the labels of its nodes."""
    own = {"domain": "ai.example.org"}
    (of_cluster, found), (of_settings, _) = resolved({CLUSTER: own}), resolved({SETTINGS: own})
    other = [each.body for each in render_site(resolved({})[0].sites[0])]

    assert found == ()
    bodies = [
        [each.body for each in render_site(each.sites[0])] for each in (of_cluster, of_settings)
    ]
    assert bodies[0] == bodies[1] != other
    assert of_cluster.sites[0].cluster.pools[0].hardware.labels == {
        "ai.example.org/node-type": "dgx-h100"
    }
    assert "ai.example.org" not in str(other)
