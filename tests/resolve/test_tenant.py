"""A team on a cluster: its queues, and claims, secrets, priorities and networks of its
namespaces."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.resolve.changes import ALLOCATIONS, CLUSTER, NLP, RUNTIME, resolved, space, tenant
from trainyard.model.storage import Claim, StoredSecret
from trainyard.render.views.sample import SampleView
from trainyard.render.views.space import SpaceView

CPU = {
    "extends": "cpu-node",
    "cpu": {"sockets": 2, "cores": 64, "threads": 128},
    "memory": "512Gi",
    "ephemeralStorage": "400Gi",
}
BOTH: dict[str, Any] = {
    "hardware/cpu.yaml": CPU,
    CLUSTER: {
        "pools": {
            "cpu": {"nodes": 4, "reserve": 1},
            "spare": {"hardware": "dgx-h100", "nodes": 4, "fabric": "ib"},
        }
    },
    RUNTIME: {"hardware": ["cpu", "dgx-h100"]},
    NLP: {"quota": {"prod-east": {"cpu": {"nodes": 2}, "spare": {"nodes": 2}}}},
}
"""A team with three pools of two hardware profiles: two of GPU nodes, one of CPU nodes."""


ADOPTING = {"until": "2099-03-31", "reason": "moving"}


def claims(asked: dict[str, Any]) -> dict[str, Claim]:
    none = {"home": None, "scratch": None, "checkpoints": None}
    return {claim.name: claim for claim in space({NLP: {"storage": {**none, **asked}}}).claims}


@given(st.integers(1, 4096), st.sampled_from(["home", "scratch"]))
def test_claim_has_the_size_that_is_asked(size: int, storage: str) -> None:
    """NFS and a storage class give a claim of that many bytes under the name of the storage."""
    (claim,) = claims({storage: f"{size}Gi"}).values()

    assert (claim.name, claim.namespace, claim.request.size) == (storage, "team-nlp", size << 30)


def test_volume_is_ours_where_the_storage_is_nfs() -> None:
    """NFS gets a PersistentVolume on the team's own folder, a class makes its own, an adopted one
    has its name."""
    asked = claims(
        {"home": "1Ti", "scratch": "1Ti", "imagenet": {"volume": "pvc-7", "size": "2Ti"}}
    )
    made = tenant({}).made_volumes

    assert {name: claim.volume for name, claim in asked.items()} == {
        "home": "prod-east-nlp-home",
        "scratch": "",
        "imagenet": "pvc-7",
    }
    assert asked["home"].path == "/export/home/nlp"
    assert (asked["imagenet"].request.size, asked["imagenet"].size) == (2 << 40, "2Ti")
    assert [claim.name for claim in made] == ["home"]


def test_bucket_becomes_a_secret_and_no_claim() -> None:
    """S3 is reached by a secret whose key in the store is the team's own; nothing of it is a volume
    claim."""
    changed = space({NLP: {"storage": {"home": None, "scratch": None, "checkpoints": "bucket-1"}}})

    assert changed.claims == ()
    assert changed.buckets == (
        StoredSecret(
            name="checkpoints",
            namespace="team-nlp",
            kind="s3",
            store="vault",
            key="ml/teams/nlp/checkpoints",
            endpoint="https://s3.corp.internal",
            bucket="bucket-1",
        ),
    )


@pytest.mark.parametrize(
    ("storage", "size", "volume"), [("home", 0, ""), ("scratch", 0, ""), ("imagenet", 1 << 40, "")]
)
def test_request_of_another_kind_is_left_to_a_rule(storage: str, size: int, volume: str) -> None:
    """A bucket's name asked of a claim gives no size, and a size asked of an adopted claim no
    volume."""
    asked = "1Ti" if storage == "imagenet" else "my-bucket"
    claim = claims({storage: asked})[storage]

    assert (claim.request.size, claim.request.volume) == (size, volume)


def test_secrets_are_sorted_and_pull_secrets_apart() -> None:
    """Each runtime's pull secret is there once, beside the buckets."""
    secrets = space({}).secrets

    assert [(each.name, each.kind) for each in secrets] == [
        ("checkpoints", "s3"),
        ("registry-pull", "pull"),
    ]
    assert [each.name for each in SpaceView(space({})).pull_secrets] == ["registry-pull"]
    assert [each.kind for each in space({RUNTIME: {"pullSecret": None}}).secrets] == ["s3"]


def test_team_without_priorities_has_all_of_the_cluster() -> None:
    """Lowest value first, as the cluster has them, so the sample takes the lowest."""
    values = {"production": 1000, "batch": 500, "a": 2000}
    changed = space({CLUSTER: {"priorities": values}})

    assert [priority.name for priority in changed.priorities] == ["batch", "production", "a"]
    assert {
        SampleView(sample).labels["kueue.x-k8s.io/priority-class"] for sample in changed.samples
    } == {"batch"}


def test_team_with_priorities_has_no_others() -> None:
    """A team that lists classes may use those only."""
    (only,) = space({NLP: {"priorities": ["production"]}}).priorities

    assert (only.name, only.value) == ("production", 1000)


def test_sample_takes_the_lowest_class_of_a_list() -> None:
    """Whatever the names: the job to copy is the first to be evicted, not the last."""
    changes = {
        CLUSTER: {"priorities": {"a-urgent": 5000}},
        NLP: {"priorities": ["a-urgent", "batch"]},
    }
    classes = {
        SampleView(sample).labels["kueue.x-k8s.io/priority-class"]
        for sample in space(changes).samples
    }

    assert classes == {"batch"}


def test_cluster_without_priorities_gives_samples_none() -> None:
    """A label that names no class would keep the job from being admitted."""
    labels = [
        SampleView(sample).labels for sample in space({CLUSTER: {"priorities": None}}).samples
    ]

    assert labels == [{}]


def test_queue_is_one_a_class_of_node() -> None:
    """Pools of GPU nodes are flavors of one queue, CPU nodes have another; the order is that of the
    names."""
    queues = tenant(BOTH).queues

    assert [(queue.name, [flavor.name for flavor in queue.flavors]) for queue in queues] == [
        ("nlp-cpu", ["cpu"]),
        ("nlp-gpu", ["dgx-h100", "spare"]),
    ]


@pytest.mark.parametrize(
    ("wanted", "leads_to"),
    [(None, "nlp-gpu"), ("gpu", "nlp-gpu"), ("cpu", "nlp-cpu"), ("none", "")],
)
def test_jobs_without_a_label_are_in_one_queue(wanted: str | None, leads_to: str) -> None:
    """It is that of the GPU nodes, unless the team wants another or none."""
    here = space({**BOTH, NLP: {**BOTH[NLP], "defaultQueue": wanted}})

    assert {local.name: local.queue.name for local in here.local_queues} == {
        "cpu": "nlp-cpu",
        "gpu": "nlp-gpu",
        **({"default": leads_to} if leads_to else {}),
    }
    limits = SpaceView(here).limits
    assert limits["defaultQueue"] == leads_to.removeprefix("nlp-")
    assert limits["queues"].split() == [local.name for local in here.local_queues]


def test_further_names_lead_to_the_queue_of_their_class() -> None:
    """Policies read them by class; a space has the team's names unless it states its own."""
    spaces = {"own": {"queues": {"cpu": ["text"]}}, "same": {}, "none": {"queues": {}}}
    nlp = {**BOTH[NLP], "queues": {"gpu": ["vision-queue", "a.b"]}, "spaces": spaces}
    found = {each.profile.name: each for each in tenant({**BOTH, NLP: nlp}).spaces}

    leads = {local.name: local.queue.name for local in found[""].local_queues}
    assert leads == {
        "cpu": "nlp-cpu",
        "gpu": "nlp-gpu",
        "default": "nlp-gpu",
        "a.b": "nlp-gpu",
        "vision-queue": "nlp-gpu",
    }
    limits = {name: SpaceView(each).limits for name, each in found.items()}
    assert limits[""]["queues"] == "cpu gpu default a.b vision-queue"
    by_class = {
        name: {key: value for key, value in each.items() if key in {"queues.cpu", "queues.gpu"}}
        for name, each in limits.items()
    }
    assert by_class == {
        "": {"queues.gpu": "a.b vision-queue"},
        "same": {"queues.gpu": "a.b vision-queue"},
        "own": {"queues.cpu": "text"},
        "none": {},
    }


@pytest.mark.parametrize(
    ("team", "cluster", "has_it"),
    [
        ({}, {"state": "held"}, True),
        ({}, {"adopt": {"pods": "audit", **ADOPTING}}, True),
        ({}, {"adopt": {"pods": "audit", **ADOPTING}, "state": "held"}, False),
        ({"adopt": {"stage": "observe", **ADOPTING}}, {}, False),
        ({"adopt": {"stage": "warn", **ADOPTING}}, {}, True),
    ],
)
def test_a_held_queue_leaves_its_further_names_to_the_site(
    team: dict[str, Any], cluster: dict[str, Any], has_it: bool
) -> None:
    """The site's LocalQueue of that name is there until the cut-over of the team.

    `default` would hold jobs that start without any queue until then. Policies refuse a TrainJob
    without a label meanwhile, which nothing would queue.
    """
    nlp = {**BOTH[NLP], "queues": {"gpu": ["vision-queue"]}, **team}
    here = space({**BOTH, NLP: nlp, CLUSTER: {**BOTH[CLUSTER], **cluster}})

    named = {local.name for local in here.local_queues}
    assert named == {"cpu", "gpu", *(("default", "vision-queue") if has_it else ())}
    assert SpaceView(here).limits["defaultQueue"] == ("gpu" if has_it else "")


def test_the_only_class_of_node_serves_jobs_without_a_label() -> None:
    """Also where the team wants the other class, which it has on other clusters."""
    only = {**BOTH, NLP: {"quota": {"prod-east": {"cpu": {"nodes": 1}, "dgx-h100": None}}}}
    other = {**only, NLP: {**only[NLP], "defaultQueue": "gpu"}}

    found = [space(each).default_queue for each in (only, other)]
    assert [queue and queue.name for queue in found] == ["nlp-cpu", "nlp-cpu"]


def test_sample_names_its_queue_where_no_label_would_lead_elsewhere() -> None:
    """In a queue of other nodes Kueue would hold what the job can't run on."""
    key = "kueue.x-k8s.io/queue-name"
    labels = {
        wanted: [
            SampleView(sample).labels.get(key)
            for sample in space({**BOTH, NLP: {**BOTH[NLP], "defaultQueue": wanted}}).samples
        ]
        for wanted in ("gpu", "cpu", "none")
    }

    assert labels == {"gpu": ["cpu", None], "cpu": [None, "gpu"], "none": ["cpu", "gpu"]}


def test_network_is_one_a_rail_where_the_team_holds_a_partition() -> None:
    """Each rail of the fabric is attached; a rule reports a missing allocation."""
    networks = space(BOTH).networks

    assert [network.name for network in networks] == [f"ib-rail-{rail}" for rail in range(8)]
    assert {network.display for network in networks} == {"0x0101"}
    assert space({**BOTH, ALLOCATIONS: {"prod-east": {"ib": {"nlp": None}}}}).networks == ()


def test_pool_without_fabric_has_no_network() -> None:
    """CPU nodes are on no fabric."""
    only_cpu = {**BOTH, NLP: {"quota": {"prod-east": {"cpu": {"nodes": 1}, "dgx-h100": None}}}}

    assert (space(only_cpu).networks, tenant(only_cpu).address_pools) == ((), ())


@given(st.permutations([("dgx-h100", 2), ("spare", 0), ("third", 0), ("fourth", 1)]))
def test_flavors_come_in_order_of_preference(preferences: list[tuple[str, int]]) -> None:
    """The lowest number first, then by name, in whatever order the profiles say them."""
    pools = {
        name: {"hardware": "dgx-h100", "nodes": 4, "preference": number}
        for name, number in preferences
    }
    quota = {name: {"nodes": 1} for name, _ in preferences}
    (queue,) = tenant({CLUSTER: {"pools": pools}, NLP: {"quota": {"prod-east": quota}}}).queues

    assert [flavor.name for flavor in queue.flavors] == ["spare", "third", "fourth", "dgx-h100"]


def test_sample_has_the_deadline_of_its_class() -> None:
    """A class with a deadline admits no job without one, so the job to copy has it."""
    classes = {"batch": {"value": 500, "deadline": "2d"}, "production": 1000}
    labels = [
        SampleView(sample).labels for sample in space({CLUSTER: {"priorities": classes}}).samples
    ]

    assert labels == [
        {
            "kueue.x-k8s.io/max-exec-time-seconds": "172800",
            "kueue.x-k8s.io/priority-class": "batch",
        }
    ]
    assert (
        SpaceView(space({CLUSTER: {"priorities": classes}})).limits["deadlines"] == "batch=172800"
    )
    assert SpaceView(space({})).limits["deadlines"] == ""


def test_retired_team_is_on_no_cluster() -> None:
    """Nothing is made for a tombstone, but it stays among the teams."""
    platform, found = resolved({NLP: {"state": "retired"}})

    assert found == ()
    assert [each.name for each in platform.sites[0].tenants] == ["vision"]
    assert [each.name for each in platform.teams] == ["nlp", "vision"]


@pytest.mark.parametrize(
    "gone",
    [
        {"quota": {"prod-east": None, "closed": {"dgx-h100": {"nodes": 2}}}},
        {"quota": {"prod-east": {"dgx-h100": None, "sold": {"nodes": 2}}}},
        {"runtimes": ["of-last-year"]},
        {"compliance": "repealed"},
        {"components": ["deleted"]},
    ],
    ids=["cluster", "pool", "runtime", "compliance", "component"],
)
def test_what_a_retired_team_used_may_go(gone: dict[str, Any]) -> None:
    """Otherwise a tombstone would keep a cluster, a pool or a runtime for ever."""
    _, found = resolved({NLP: gone})
    assert [each.rule for each in found] == ["references/unknown-name"]

    _, found = resolved({NLP: {"state": "retired", **gone}})
    assert found == ()


def test_team_is_only_where_it_has_quota() -> None:
    """A cluster holds the teams with quota there, and each allocation is found by its cluster."""
    west = {
        "release": "openshift-ai-3.5",
        "pools": {"dgx-h100": {"nodes": 4}},
        "networks": {
            "pods": "10.128.0.0/14",
            "services": "172.30.0.0/16",
            "machines": "192.0.2.0/24",
        },
        "pullSecrets": {"registry-pull": {"secretStore": "vault", "path": "x"}},
    }
    vision = {
        "quota": {"prod-east": None, "west": {"dgx-h100": {"nodes": 2}}},
        "cohort": None,
        "storage": None,
    }
    platform, found = resolved({"clusters/west.yaml": west, "teams/vision.yaml": vision})

    assert found == ()
    assert {site.name: [each.name for each in site.tenants] for site in platform.sites} == {
        "prod-east": ["nlp"],
        "west": ["vision"],
    }


def test_launches_of_a_site_are_those_that_some_team_lists() -> None:
    """Two teams with one runtime share one object; a runtime that no team lists has none."""
    platform, _ = resolved({"teams/vision.yaml": {"runtimes": ["openmpi-cuda"]}})
    (site,) = platform.sites

    assert [launch.name for launch in site.launches] == ["openmpi-cuda-v1-dgx-h100"]
