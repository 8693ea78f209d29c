"""Measures of a regulation: which teams need them, and which profiles meet them."""

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
UNDECLARED = {CLUSTER: {"external": {"AuditLog/siem": None}}}


def regulation(name: str, *measures: str) -> dict[str, Any]:
    """Return a compliance profile that requires some measures."""
    return {
        f"compliance/{name}.yaml": {"title": name, "controls": dict.fromkeys(measures, "1.2.3")}
    }


def test_every_measure_of_a_regulation_is_checked() -> None:
    """The base's team meets none of them."""
    changes = {**regulation("hipaa", *MEASURES), NLP: {"compliance": "hipaa"}, **UNDECLARED}
    assert broken(changes) >= RULES


def test_measures_apply_only_to_active_teams_of_the_regulation() -> None:
    """Teams without a regulation, and retired teams, need no measure."""
    retired = {VISION: {"compliance": "hipaa", "state": "retired"}}

    assert not broken(regulation("hipaa", *MEASURES)) & RULES
    assert not broken({**regulation("hipaa", *MEASURES), **retired}) & RULES


@pytest.mark.parametrize("encrypted", [True, False])
def test_storage_that_admins_may_claim_is_encrypted_too(encrypted: bool) -> None:
    """Storage that only admins claim may contain the same data."""
    nothing = dict.fromkeys(("home", "scratch", "checkpoints"))
    changes = {
        **regulation("hipaa", "encryptedStorage"),
        CLUSTER: {"storage": {"scratch": {"encrypted": encrypted}}},
        NLP: {"compliance": "hipaa", "storage": nothing, "claims": {"scratch": "1Ti"}},
    }
    found = messages("isolation/unencrypted-storage", changes)

    message = "team nlp is under hipaa, but storage `scratch` does not have `encrypted: true`"
    assert found == ([] if encrypted else [message])


@pytest.mark.parametrize("measure", MEASURES)
def test_measure_that_a_regulation_does_not_list_is_not_checked(measure: str) -> None:
    """Each rule checks one measure; networks are isolated without one."""
    rest = [each for each in MEASURES if each != measure]
    without = broken({**regulation("hipaa", *rest), NLP: {"compliance": "hipaa"}, **UNDECLARED})

    assert len(RULES - without) == (measure != "networkIsolation")


@pytest.mark.parametrize(
    ("vision", "quota", "problems"),
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
def test_dedicated_pool_is_for_one_regulation(
    vision: dict[str, Any], quota: dict[str, Any], problems: list[str]
) -> None:
    """Teams under the same regulation may each have nodes of the pool."""
    changes = {
        **regulation("hipaa", "dedicatedNodes"),
        **regulation("pci", "dedicatedNodes"),
        NLP: {"compliance": "hipaa", "quota": {"prod-east": {"dgx-h100": quota}}},
        VISION: vision,
    }
    pool = "pool `dgx-h100` is for teams under hipaa only"
    found = messages("isolation/pool-not-dedicated", changes)

    assert found == [f"{pool}, but {problem}" for problem in problems]


@pytest.mark.parametrize(
    ("fabric", "encrypted", "network"),
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
def test_only_the_pod_network_encrypts_between_nodes(
    fabric: str | None, network: str, *, encrypted: bool
) -> None:
    """A team that requires encryption uses sockets, with or without a regulation."""
    changes = {
        RUNTIME: {"fabric": fabric},
        NLP: {"encryptionInTransit": True},
        CLUSTER: {"networks": {"encrypted": encrypted}},
    }
    ranks = "team nlp requires encryption, but ranks of `openmpi-cuda` on prod-east"
    found = messages("isolation/unencrypted-transit", changes)

    assert found == ([f"{ranks} communicate {network}"] if network else [])


@pytest.mark.parametrize("stated", [True, False])
def test_either_decision_on_encryption_in_transit_is_accepted(stated: bool) -> None:
    """Only `true` has consequences."""
    changes = {
        **regulation("hipaa", "encryptionInTransit"),
        NLP: {"compliance": "hipaa", "encryptionInTransit": stated},
    }

    found = broken(changes)
    assert "isolation/unstated-transit" not in found
    assert ("isolation/unencrypted-transit" in found) is stated


def test_job_of_one_pod_needs_no_encryption_between_nodes() -> None:
    changes = {
        RUNTIME: {
            "launcher": "torchrun",
            "libraries": {"openmpi": None, "torch": "2.6.0"},
            "maxNodes": 1,
        },
        NLP: {"encryptionInTransit": True, "largestJob": {"nodes": 1}},
    }

    assert messages("isolation/unencrypted-transit", changes) == []
