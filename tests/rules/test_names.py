"""Reserved names, and names that clash only when they are composed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cases import broken, messages


@pytest.mark.parametrize("name", ["default", "platform", "system", "kube-ml", "openshift-ml"])
def test_reserved_team_is_refused(name: str) -> None:
    """Names of the platform, and prefixes of Kubernetes and OpenShift, are reserved."""
    team: dict[str, Any] = {
        "contact": "a@example.com",
        "groups": {"user": ["a"]},
        "runtimes": ["openmpi-cuda"],
        "state": "retired",
        "quota": {"prod-east": {"dgx-h100": {"nodes": 0}}},
    }
    assert "names/reserved-team" in broken({f"teams/{name}.yaml": team})


def test_bucket_and_pull_secret_need_different_names() -> None:
    """Both become Secrets in the team's namespace."""
    store = {"s3": {"endpoint": "https://s3.corp.internal", "secretStore": "vault", "path": "ml"}}
    changes = {
        "clusters/prod-east.yaml": {"storage": {"registry-pull": store}},
        "teams/nlp.yaml": {"storage": {"registry-pull": "nlp-bucket"}},
    }
    assert messages("names/clashing-names", changes) == [
        "two different objects would be the Secret `registry-pull`"
    ]
