"""Versions that run, by the tags of images: hints, which decide no release."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from trainyard.model.facts import Facts, place_of
from trainyard.model.lookup import text
from trainyard.model.readable import DEPLOYMENTS, NODES, STATEFUL_SETS
from trainyard.model.version import numbers
from trainyard.rules.preflight._controllers import NAMES, image_version
from trainyard.yaml_io.source import Source

_KUBELET = re.compile(r"v([0-9]{1,5}\.[0-9]{1,5}(\.[0-9]{1,5})?)", re.ASCII)


def versions(facts: Facts) -> dict[str, str]:
    """Return the version of each component that the dump shows."""
    found = {"kubernetes": _kubernetes(facts)}
    for body in (*facts.of(DEPLOYMENTS), *facts.of(STATEFUL_SETS)):
        for component, end in NAMES.items():
            if place_of(body)[1].endswith(end):
                found[component] = image_version(body)
    return {component: found[component] for component in sorted(found) if found[component]}


def _kubernetes(facts: Facts) -> str:
    """Return the newest version of a kubelet; empty where the dump has none."""
    texts = (text(node, "status", "nodeInfo", "kubeletVersion") for node in facts.of(NODES))
    known = [match[1] for match in map(_KUBELET.match, texts) if match]
    return facts.kubernetes or max(known, key=numbers, default="")


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
