"""Measures of a regulation: whom they are demanded of, and what answers them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cases import broken, messages

CLUSTER, NLP, VISION, RUNTIME = (
    "clusters/prod-east.yaml",
    "teams/nlp.yaml",
    "teams/vision.yaml",
    "runtimes/openmpi-cuda.yaml",
)
MEASURES = (
    "accessControl",
    "audit",
    "dedicatedNodes",
    "encryptedStorage",
    "encryptionInTransit",
    "fips",
    "networkIsolation",
)
RULES = {
    "access/shared-account",
    "isolation/audit-not-declared",
    "isolation/not-fips",
    "isolation/pool-not-dedicated",
    "isolation/unencrypted-storage",
    "isolation/unstated-transit",
}


def regulation(name: str, *measures: str) -> dict[str, Any]:
    """Return a compliance profile that demands some measures."""
    return {
        f"compliance/{name}.yaml": {"title": name, "controls": dict.fromkeys(measures, "1.2.3")}
    }


def test_whole_regulation_is_demanded() -> None:
    """The base's team breaks every measure that it can break."""
    assert broken({**regulation("hipaa", *MEASURES), NLP: {"compliance": "hipaa"}}) == RULES


def test_nothing_is_demanded_of_others() -> None:
    """Teams without a regulation, and tombstones, are left alone."""
    assert broken(regulation("hipaa", *MEASURES)) == set()
    assert (
        not broken(
            {**regulation("hipaa", *MEASURES), VISION: {"compliance": "hipaa", "state": "retired"}}
        )
        & RULES
    )


@pytest.mark.parametrize("encrypted", [True, False])
def test_what_admins_may_claim_is_encrypted_too(encrypted: bool) -> None:
    """A class that only the admins claim of holds the same data."""
    nothing = dict.fromkeys(("home", "scratch", "checkpoints"))
    changes = {
        **regulation("hipaa", "encryptedStorage"),
        CLUSTER: {"storage": {"scratch": {"encrypted": encrypted}}},
        NLP: {"compliance": "hipaa", "storage": nothing, "claims": {"scratch": "1Ti"}},
    }
    found = messages("isolation/unencrypted-storage", changes)

    assert found == (
        [] if encrypted else ["team nlp is under hipaa, and `scratch` is not said to be encrypted"]
    )


@pytest.mark.parametrize("measure", MEASURES)
def test_what_is_not_listed_is_not_demanded(measure: str) -> None:
    """Each rule looks at a measure of its own; networks are isolated by construction."""
    rest = [each for each in MEASURES if each != measure]
    without = broken({**regulation("hipaa", *rest), NLP: {"compliance": "hipaa"}})

    assert len(RULES - without) == (measure != "networkIsolation")


@pytest.mark.parametrize(
    ("vision", "quota", "told"),
    [
        ({"compliance": "hipaa", "cohort": None}, {"lend": "none"}, []),
        ({"compliance": "hipaa"}, {"lend": "none"}, ["team vision lends 4 nodes of it"]),
        (
            {"compliance": "hipaa", "cohort": None},
            {"lend": "none", "borrow": 2},
            ["team nlp borrows 2 nodes of it"],
        ),
        ({"compliance": "pci"}, {"lend": "none"}, ["team vision has quota on it"]),
        ({"cohort": None}, {"lend": "none"}, ["team vision has quota on it"]),
    ],
)
def test_pool_is_for_one_regulation(
    vision: dict[str, Any], quota: dict[str, Any], told: list[str]
) -> None:
    """Teams under the same one may have nodes of it, each its own."""
    changes = {
        **regulation("hipaa", "dedicatedNodes"),
        **regulation("pci", "dedicatedNodes"),
        NLP: {"compliance": "hipaa", "quota": {"prod-east": {"dgx-h100": quota}}},
        VISION: vision,
    }
    said = messages("isolation/pool-not-dedicated", changes)

    assert said == [f"pool `dgx-h100` is for teams under hipaa only, but {each}" for each in told]


@pytest.mark.parametrize(
    ("fabric", "encrypted", "told"),
    [
        (None, True, "by RDMA over infiniband, which nothing encrypts"),
        ("rdma", True, "by RDMA over infiniband, which nothing encrypts"),
        ("gpudirect", False, "by RDMA over infiniband, which nothing encrypts"),
        ("tcp", True, ""),
        ("isolated", True, ""),
        ("tcp", False, "over sockets, and the pod network does not encrypt"),
        ("isolated", False, "over sockets, and the pod network does not encrypt"),
    ],
)
def test_transit_is_encrypted_by_the_pod_network_only(
    fabric: str | None, told: str, *, encrypted: bool
) -> None:
    """Whoever wants encryption takes sockets over a pod network that encrypts, under a regulation
    or not."""
    changes = {
        RUNTIME: {"fabric": fabric},
        NLP: {"encryptionInTransit": True},
        CLUSTER: {"networks": {"encrypted": encrypted}},
    }
    said = messages("isolation/unencrypted-transit", changes)

    assert said == (
        [f"team nlp wants encryption, but ranks of `openmpi-cuda` on prod-east talk {told}"]
        if told
        else []
    )


@pytest.mark.parametrize("stated", [True, False])
def test_team_states_what_it_wants(stated: bool) -> None:
    """Either answer is one; only `true` has consequences."""
    changes = {
        **regulation("hipaa", "encryptionInTransit"),
        NLP: {"compliance": "hipaa", "encryptionInTransit": stated},
    }

    assert broken(changes) == ({"isolation/unencrypted-transit"} if stated else set())


def test_job_of_one_pod_talks_to_nobody() -> None:
    """Between nodes nothing passes where a job has one."""
    changes = {
        RUNTIME: {
            "launcher": "torchrun",
            "libraries": {"openmpi": None, "torch": "2.6.0"},
            "maxNodes": 1,
        },
        NLP: {"encryptionInTransit": True, "largestJob": {"nodes": 1}},
    }

    assert messages("isolation/unencrypted-transit", changes) == []
