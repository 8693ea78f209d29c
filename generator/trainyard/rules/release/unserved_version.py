"""Compare the version of every object with the release's."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._components import brought, once

RULE = Rule(
    id="release/unserved-version",
    severity=Severity.ERROR,
    summary="A component's objects are of the API version that the release serves.",
    why="""
        Argo CD stops the whole unit: `failed to discover server resources for group version
        <version>: the server could not find the requested resource` (seen with Argo CD 3.5.7).
    """,
    fix="Write the served version, and look up what else changed between the two.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    yield from once(
        RULE.at(
            each.at / "apiVersion",
            f"{each.display} is {each.body['apiVersion']}; {each.site.cluster.release.name} serves "
            f"{each.served}",
        )
        for each in brought(platform)
        if each.served not in ("", each.body["apiVersion"])
    )


CHECK = Check(RULE, find)
