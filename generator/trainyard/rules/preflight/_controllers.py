"""The controllers that a tree needs, as they run."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.model.facts import Body, place_of
from trainyard.model.live import Live
from trainyard.model.lookup import mappings, text
from trainyard.model.readable import DEPLOYMENTS, STATEFUL_SETS

_KINDS = (DEPLOYMENTS, STATEFUL_SETS)
NAMES = {
    "argocd": "application-controller",
    "jobset": "jobset-controller-manager",
    "kueue": "kueue-controller-manager",
    "trainer": "trainer-controller-manager",
}
"""End of the workload's name by component: distributors put their own words before it."""

_TAG = re.compile(r":v?([0-9]{1,5}\.[0-9]{1,5}(\.[0-9]{1,5})?)([-+@].*)?$", re.ASCII)
"""Version in an image's tag; a digest may follow."""


def image_version(body: Body) -> str:
    """Return the version in the tag of a workload's image; empty without one."""
    containers = mappings(dict(body), "spec", "template", "spec", "containers")
    tags = (_TAG.search(text(container, "image")) for container in containers)
    return next((found[1] for found in tags if found), "")


def controllers(live: Live) -> Iterator[tuple[str, str, Body | None]]:
    """Yield each component with its namespace, and its workload; None where there is none.

    An Argo CD on another cluster is left out.
    """
    workloads = [(place_of(body), body) for kind in _KINDS for body in live.of(kind)]
    for source in live.site.cluster.sources:
        if end := NAMES.get(source.name):
            found = (
                body
                for (namespace, name), body in workloads
                if namespace == source.namespace and name.endswith(end)
            )
            yield source.name, source.namespace, next(found, None)
