"""Find controllers of another version than the profile states."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.live import Live
from trainyard.model.readable import DEPLOYMENTS, STATEFUL_SETS
from trainyard.model.version import numbers
from trainyard.rules._check import LiveCheck
from trainyard.rules.preflight._controllers import controllers, image_version

RULE = Rule(
    id="preflight/other-version",
    severity=Severity.ERROR,
    summary="What runs has the minor versions that the cluster's profile and release state.",
    why="""
        Rules about versions that fail together, and what the tree writes, follow the stated
        versions. With other ones a component may drop fields, or jobs never start.
    """,
    fix="State the version that runs under `installed`, or install the stated one.",
    waivable=True,
)


def find(live: Live) -> Iterator[Diagnostic]:
    for component, running in _running(live):
        stated = live.site.cluster.versions[component]
        at = live.at / "installed" / component
        if running and numbers(running)[:2] != numbers(stated)[:2]:
            yield RULE.at(at, f"{component} {running} runs, and the profile states {stated}")
        elif not running:
            message = f"the version of {component} is not known: no tag of an image has it"
            if component == "kubernetes":
                message = "the version of kubernetes is not known: a dump does not have it"
            yield RULE.at(at, message, hint=f"Compare it with {stated}, and waive this.")


def _running(live: Live) -> Iterator[tuple[str, str]]:
    """Yield each component with its version; empty where it is not known."""
    yield "kubernetes", live.facts.kubernetes
    for component, _, body in controllers(live):
        if body is not None:
            yield component, image_version(body)


LIVE = LiveCheck(RULE, find, (DEPLOYMENTS, STATEFUL_SETS))
