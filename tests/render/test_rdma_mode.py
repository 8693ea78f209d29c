"""Who puts RDMA into exclusive mode: the SR-IOV operator, or the nodes' owner."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cases import platform_of
from trainyard.render.site import render_site

CLUSTER = "clusters/prod-east.yaml"


@pytest.mark.parametrize("release", ["kubernetes-1.36", "openshift-ai-3.5"])
@pytest.mark.parametrize(
    ("nodes", "mode"),
    [
        (None, "exclusive"),
        ({"sync": "automatic"}, "exclusive"),
        ({"rdmaMode": "exclusive"}, "exclusive"),
        ({"rdmaMode": "unset"}, None),
        ({"rdmaMode": "unset", "sync": "automatic"}, None),
    ],
)
def test_field_is_left_out_where_the_owner_sets_the_mode(
    nodes: dict[str, Any] | None, mode: str | None, release: str
) -> None:
    (site,) = platform_of({CLUSTER: {"nodes": nodes, "release": release}}).sites
    configs = [
        each.body["spec"]
        for each in render_site(site)
        if each.body["kind"] == "SriovNetworkPoolConfig"
    ]

    assert [each.get("rdmaMode") for each in configs] == [mode]
    # Without it, all nodes of the pool would be drained at once.
    assert [each["maxUnavailable"] for each in configs] == [1]
    assert site.cluster.node_sync == (nodes or {}).get("sync", "manual")
