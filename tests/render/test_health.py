"""The health checks that the owner of Argo CD gets."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cases import platform_of
from trainyard.render.unit import health_checks

_KUEUE = {"kueue.x-k8s.io/ClusterQueue", "kueue.x-k8s.io/LocalQueue", "/PersistentVolumeClaim"}


@pytest.mark.parametrize(
    ("release", "more"),
    [
        (
            "openshift-ai-3.5",
            {"kueue.openshift.io/Kueue", "machineconfiguration.openshift.io/MachineConfigPool"},
        ),
        ("kubernetes-1.36", set()),
    ],
)
def test_there_is_a_check_for_each_kind_that_a_unit_may_hold_and_for_no_other(
    release: str, more: set[str]
) -> None:
    (site,) = platform_of({"clusters/prod-east.yaml": {"release": release}}).sites
    _, body = health_checks(site)
    assert _kinds(body) == _KUEUE | more


def _kinds(body: dict[str, Any]) -> set[str]:
    if "data" in body:
        names = (key.removeprefix("resource.customizations.health.") for key in body["data"])
        return {name.replace("_", "/") if "_" in name else f"/{name}" for name in names}
    return {f"{each['group']}/{each['kind']}" for each in body["spec"]["resourceHealthChecks"]}
