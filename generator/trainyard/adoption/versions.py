"""Versions that run, by the tags of images: hints, which decide no release."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from trainyard.model.facts import Facts, place_of
from trainyard.model.lookup import mappings, text
from trainyard.model.readable import DEPLOYMENTS, NODES, STATEFUL_SETS
from trainyard.model.version import numbers
from trainyard.rules.preflight._controllers import NAMES, tag_of
from trainyard.yaml_io.source import Source

_KUBELET = re.compile(r"v([0-9]{1,5}\.[0-9]{1,5}(\.[0-9]{1,5})?)", re.ASCII)


def versions(facts: Facts) -> dict[str, str]:
    """Return the version of each component that the dump shows."""
    found = {}
    kubelets = (text(node, "status", "nodeInfo", "kubeletVersion") for node in facts.of(NODES))
    known = sorted({each[1] for each in map(_KUBELET.match, kubelets) if each}, key=numbers)
    if facts.kubernetes or known:
        found["kubernetes"] = facts.kubernetes or known[-1]
    for body in (*facts.of(DEPLOYMENTS), *facts.of(STATEFUL_SETS)):
        containers = mappings(dict(body), "spec", "template", "spec", "containers")
        tags = [*filter(None, (tag_of(text(each, "image")) for each in containers))]
        ends = (name for name, end in NAMES.items() if place_of(body)[1].endswith(end))
        if tags and (component := next(ends, "")):
            found[component] = tags[0]
    return dict(sorted(found.items()))


def nearest(found: Mapping[str, str], releases: Mapping[str, Source]) -> str:
    """Return the release with most of the minor versions that run; empty if none has one."""
    same = {name: sum(1 for _ in _same(found, source)) for name, source in releases.items()}
    best = max(sorted(same), key=lambda name: same[name], default="")
    return best if best and same[best] else ""


def _same(found: Mapping[str, str], source: Source) -> Iterator[str]:
    stated = source.value["versions"]
    for component, version in found.items():
        if component in stated and numbers(stated[component])[:2] == numbers(version)[:2]:
            yield component


def installed(found: Mapping[str, str], source: Source) -> dict[str, str]:
    """Return the minor versions that run and that a release does not have."""
    stated = source.value["versions"]
    return {
        component: ".".join(version.split(".")[:2])
        for component, version in found.items()
        if component in stated and component not in set(_same(found, source))
    }
