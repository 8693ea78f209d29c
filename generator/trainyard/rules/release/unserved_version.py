"""Compare the API version of each object of a component with the release's."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._components import component_objects, distinct

RULE = Rule(
    id="release/unserved-version",
    severity=Severity.ERROR,
    summary="The objects of a component have the API version that the release serves.",
    why="""
        Argo CD stops syncing the whole unit: `failed to discover server resources for group version
        <version>: the server could not find the requested resource` (seen with Argo CD 3.5.7).
    """,
    fix="Write the served version, and look up what else changed between the two versions.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    yield from distinct(_unserved(platform))


def _unserved(platform: Platform) -> Iterator[Diagnostic]:
    for handwritten in component_objects(platform):
        stated = handwritten.body["apiVersion"]
        if handwritten.served not in ("", stated):
            release = handwritten.site.cluster.release.name
            message = f"{handwritten.display} is {stated}; {release} serves {handwritten.served}"
            yield RULE.at(handwritten.at / "apiVersion", message)


CHECK = Check(RULE, find)
