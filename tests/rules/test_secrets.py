"""What ExternalSecrets of components read, and what is made of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cases import broken, messages
from tests.rules.components import component, external_secret
from trainyard.rules.access.minted_token import PLAIN_TYPES

ELSEWHERE, MINTED = "isolation/secret-of-another-team", "access/minted-token"
CLUSTER = "clusters/prod-east.yaml"
OWN = "ml/teams/nlp/tracking"
MAY = "team nlp may read below `ml/teams/nlp/`"


def read(rule: str, **spec: Any) -> list[str]:
    """Return what a rule says of an ExternalSecret, without the object's name."""
    said = messages(rule, component(external_secret(**spec), "nlp"))
    return [each.removeprefix("ExternalSecret `it` in a.yaml ") for each in said]


def data(key: str, **source: Any) -> dict[str, Any]:
    return {"secretKey": "k", "remoteRef": {"key": key}, **source}


def of(kind: str, name: str) -> dict[str, Any]:
    return {"sourceRef": {"storeRef": {"kind": kind, "name": name}}}


@pytest.mark.parametrize("key", [OWN, "ml/teams/nlp/a/b", "ml/teams/nlp/..a"])
def test_key_below_the_own_path_is_read(key: str) -> None:
    """By name of a value or of all values that lie there."""
    assert read(ELSEWHERE, data=[data(key)]) == []
    assert read(ELSEWHERE, dataFrom=[{"extract": {"key": key}}]) == []


@pytest.mark.parametrize(
    "key",
    [
        "ml/teams/vision/checkpoints",
        "ml/registry",
        "ml/teams/nlp",
        "ml/teams/nlp/",
        "ml/teams/nlp-two/x",
        "/ml/teams/nlp/x",
        "ml/teams/nlp/../vision/x",
        "ml/teams/nlp/./../vision/x",
        "ml/teams/nlp//x",
    ],
)
def test_key_elsewhere_is_refused(key: str) -> None:
    """Another team's, the platform's, a team's whose name begins alike, and a way that leads up
    again."""
    told = [f"reads `{key}` of ClusterSecretStore `vault`; {MAY}"]

    assert read(ELSEWHERE, data=[data(key)]) == told
    assert read(ELSEWHERE, dataFrom=[{"extract": {"key": key}}]) == told


def test_search_is_refused() -> None:
    """It takes whatever matches, tomorrow's secrets too."""
    found = read(ELSEWHERE, dataFrom=[{"find": {"path": "ml/teams/nlp", "name": {"regexp": ".*"}}}])

    assert found == [f"takes whatever it finds of ClusterSecretStore `vault`; {MAY}"]


def test_every_entry_is_looked_at() -> None:
    """One right key does not vouch for the next."""
    assert (
        len(
            read(
                ELSEWHERE,
                data=[data(OWN), data("a"), data("b")],
                dataFrom=[{"extract": {"key": "c"}}],
            )
        )
        == 3
    )


def test_entry_may_name_a_store_of_its_own() -> None:
    """The path counts in its own store only; a store in the team's namespace was made for the
    team."""
    other = "of ClusterSecretStore `other`; team nlp may read below no path of it"

    assert read(ELSEWHERE, data=[data(OWN, **of("ClusterSecretStore", "other"))]) == [
        f"reads `{OWN}` {other}"
    ]
    assert read(ELSEWHERE, data=[data("anything", **of("SecretStore", "own"))]) == []
    assert read(ELSEWHERE, secretStoreRef={"name": "own"}, data=[data("anything")]) == []


def test_every_storage_of_the_store_opens_its_path() -> None:
    """Whichever entry of the cluster says it, whether or not the team asked for that storage."""
    store = {"endpoint": "https://s3.corp.internal", "secretStore": "vault", "path": "ml/models"}
    changes = component(external_secret(data=[data("ml/models/nlp/x"), data("ml/other")]), "nlp")
    changes[CLUSTER] = {"storage": {"models": {"s3": store}}}

    (found,) = messages(ELSEWHERE, changes)
    assert found.endswith("may read below `ml/teams/nlp/`, `ml/models/nlp/`")


@pytest.mark.parametrize("made", sorted(PLAIN_TYPES))
def test_plain_secret_is_made(made: str) -> None:
    """Nobody adds anything to these."""
    assert broken(component(external_secret(target={"template": {"type": made}}), "nlp")) == set()


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (
            {"target": {"template": {"type": "kubernetes.io/service-account-token"}}},
            "makes a Secret of type kubernetes.io/service-account-token",
        ),
        (
            {"target": {"template": {"type": "bootstrap.kubernetes.io/token"}}},
            "makes a Secret of type bootstrap.kubernetes.io/token",
        ),
        (
            {"target": {"manifest": {"apiVersion": "v1", "kind": "ServiceAccount"}}},
            "makes a ServiceAccount instead of a Secret",
        ),
        (
            {
                "dataFrom": [
                    {"sourceRef": {"generatorRef": {"kind": "GithubAccessToken", "name": "x"}}}
                ]
            },
            "takes values of the generator GithubAccessToken",
        ),
        (
            {
                "data": [
                    data(OWN, sourceRef={"generatorRef": {"kind": "ClusterGenerator", "name": "x"}})
                ]
            },
            "takes values of the generator ClusterGenerator",
        ),
    ],
)
def test_anything_else_is_refused(spec: dict[str, Any], told: str) -> None:
    """A credential that others make, or another object, with the operator's rights."""
    assert read(MINTED, **spec) == [told]


@pytest.mark.parametrize("odd", [None, "x", [], ["x", None], {"x": []}, 7])
def test_odd_shapes_are_left_to_the_schema(odd: object) -> None:
    """A component may hold anything; the rules must not fall over it."""
    for field in ("data", "dataFrom", "secretStoreRef", "target"):
        assert broken(component(external_secret(**{field: odd}), "nlp")) == set()
    assert broken(component(external_secret() | {"spec": odd}, "nlp")) == set()
