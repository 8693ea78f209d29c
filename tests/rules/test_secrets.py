"""Keys that ExternalSecrets of components read, and objects that they create."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cases import broken, messages
from tests.rules.components import component, external_secret
from trainyard.rules.access.minted_token import PLAIN_TYPES

ELSEWHERE, MINTED = "isolation/secret-of-another-team", "access/minted-token"
SECRET_RULES = {ELSEWHERE, MINTED, "delivery/secret-not-owned", "delivery/foreign-metadata-key"}
CLUSTER = "clusters/prod-east.yaml"
OWN = "ml/teams/nlp/tracking"
PERMITTED = "team nlp may read below `ml/teams/nlp/`"


def read(rule: str, **spec: Any) -> list[str]:
    """Return a rule's messages about an ExternalSecret, without the object's name."""
    found = messages(rule, component(external_secret(**spec), "nlp"))
    return [each.removeprefix("ExternalSecret `it` in a.yaml ") for each in found]


def data(key: str, **source: Any) -> dict[str, Any]:
    return {"secretKey": "k", "remoteRef": {"key": key}, **source}


def of(kind: str, name: str) -> dict[str, Any]:
    return {"sourceRef": {"storeRef": {"kind": kind, "name": name}}}


@pytest.mark.parametrize("key", [OWN, "ml/teams/nlp/a/b", "ml/teams/nlp/..a"])
def test_key_below_the_teams_path_is_permitted(key: str) -> None:
    """An ExternalSecret may read one value or all values of the key."""
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
def test_key_outside_the_teams_path_is_refused(key: str) -> None:
    """Keys of other teams or of the platform, similar names, and paths with `..`."""
    expected = [f"reads `{key}` in ClusterSecretStore `vault`; {PERMITTED}"]

    assert read(ELSEWHERE, data=[data(key)]) == expected
    assert read(ELSEWHERE, dataFrom=[{"extract": {"key": key}}]) == expected


def test_search_is_refused() -> None:
    """It also finds secrets that are created later."""
    found = read(ELSEWHERE, dataFrom=[{"find": {"path": "ml/teams/nlp", "name": {"regexp": ".*"}}}])

    search = "reads all keys that its search finds in ClusterSecretStore `vault`"
    assert found == [f"{search}; {PERMITTED}"]


def test_every_entry_is_checked() -> None:
    entries = [data(OWN), data("a"), data("b")]

    assert len(read(ELSEWHERE, data=entries, dataFrom=[{"extract": {"key": "c"}}])) == 3


def test_entry_may_name_a_store_of_its_own() -> None:
    """A path applies to its own store, and a store in the team's namespace is the team's own."""
    other = "in ClusterSecretStore `other`; team nlp may read nothing there"

    assert read(ELSEWHERE, data=[data(OWN, **of("ClusterSecretStore", "other"))]) == [
        f"reads `{OWN}` {other}"
    ]
    assert read(ELSEWHERE, data=[data("anything", **of("SecretStore", "own"))]) == []
    assert read(ELSEWHERE, secretStoreRef={"name": "own"}, data=[data("anything")]) == []


def test_every_storage_entry_of_the_store_permits_its_path() -> None:
    """The team need not use that storage."""
    store = {"endpoint": "https://s3.corp.internal", "secretStore": "vault", "path": "ml/models"}
    changes = component(external_secret(data=[data("ml/models/nlp/x"), data("ml/other")]), "nlp")
    changes[CLUSTER] = {"storage": {"models": {"s3": store}}}

    (found,) = messages(ELSEWHERE, changes)
    assert found.endswith("may read below `ml/teams/nlp/`, below `ml/models/nlp/`")


@pytest.mark.parametrize("made", sorted(PLAIN_TYPES))
def test_plain_type_of_secret_is_permitted(made: str) -> None:
    """No controller adds anything to Secrets of these types."""
    changes = component(external_secret(target={"template": {"type": made}}), "nlp")

    assert not broken(changes) & SECRET_RULES


@pytest.mark.parametrize(
    ("spec", "effect"),
    [
        (
            {"target": {"template": {"type": "kubernetes.io/service-account-token"}}},
            "creates a Secret of type kubernetes.io/service-account-token",
        ),
        (
            {"target": {"template": {"type": "bootstrap.kubernetes.io/token"}}},
            "creates a Secret of type bootstrap.kubernetes.io/token",
        ),
        (
            {"target": {"manifest": {"apiVersion": "v1", "kind": "ServiceAccount"}}},
            "creates a ServiceAccount instead of a Secret",
        ),
        (
            {
                "dataFrom": [
                    {"sourceRef": {"generatorRef": {"kind": "GithubAccessToken", "name": "x"}}}
                ]
            },
            "takes values from the generator GithubAccessToken",
        ),
        (
            {
                "data": [
                    data(OWN, sourceRef={"generatorRef": {"kind": "ClusterGenerator", "name": "x"}})
                ]
            },
            "takes values from the generator ClusterGenerator",
        ),
    ],
)
def test_anything_but_a_plain_secret_is_refused(spec: dict[str, Any], effect: str) -> None:
    """The operator would create credentials or other objects with its own rights."""
    assert read(MINTED, **spec) == [effect]


@pytest.mark.parametrize("odd", [None, "x", [], ["x", None], {"x": []}, 7])
def test_fields_of_a_wrong_type_are_ignored(odd: object) -> None:
    """The schema reports them."""
    for field in ("data", "dataFrom", "secretStoreRef", "target"):
        assert not broken(component(external_secret(**{field: odd}), "nlp")) & SECRET_RULES
    assert not broken(component(external_secret() | {"spec": odd}, "nlp")) & SECRET_RULES
