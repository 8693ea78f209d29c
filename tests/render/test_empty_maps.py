"""Maps without keys: where one had a key before, the API server makes null of it and refuses that.

Seen with server-side apply of Kubernetes 1.36.3: ``spec in body must be of type object: "null"``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.resolve.changes import CLUSTER
from tests.rules.cases import platform_of
from trainyard.render.site import render_site

_WHOLE = {"namespaceSelector", "objectSelector", "podSelector"}
"""Selectors, which are replaced as a whole."""
_ALWAYS_EMPTY = {"emptyDir", "torch"}
"""Maps that never have a key in a tree."""

_AT_THE_TOP: dict[str, Any] = {
    CLUSTER: {"cohorts": {"research": {}, "alone": {}, "below": {"parent": "alone"}}}
}


@pytest.mark.parametrize("release", ["kubernetes-1.36", "openshift-ai-3.5"])
@pytest.mark.parametrize("sharing", ["classical", "fair"])
def test_no_map_loses_its_last_key(release: str, sharing: str) -> None:
    settings = {"release": release, "sharing": sharing, **_AT_THE_TOP[CLUSTER]}
    (site,) = platform_of({CLUSTER: settings}).sites
    manifests = render_site(site)
    cohorts = [each.body["spec"] for each in manifests if each.body["kind"] == "Cohort"]
    assert len(cohorts) == 3
    found = {
        path
        for each in manifests
        for path in _empty(each.body, each.body["kind"])
        if path.rpartition(".")[2] not in _WHOLE | _ALWAYS_EMPTY
    }
    assert not found


def _empty(value: object, path: str) -> Iterator[str]:
    """Yield the path of each map without keys."""
    if value == {}:
        yield path
    elif isinstance(value, dict):
        for key, child in value.items():
            yield from _empty(child, f"{path}.{key}")
    elif isinstance(value, list):
        for child in value:
            yield from _empty(child, path)
