"""Ask the rules what a running cluster contradicts, and name what could not be checked."""

from __future__ import annotations

import json
from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic
from trainyard.model.facts import Resource
from trainyard.model.live import Live
from trainyard.model.rights import rules_of
from trainyard.rules._check import LiveCheck
from trainyard.rules.check import LIVE_CHECKS
from trainyard.rules.preflight.field_not_served import RULE as FIELD_NOT_SERVED
from trainyard.rules.preflight.unchecked import RULE as UNCHECKED

RULES = (FIELD_NOT_SERVED, UNCHECKED, *(check.rule for check in LIVE_CHECKS))


def check_live(live: Live) -> Iterator[Diagnostic]:
    """Yield the findings of all rules about a cluster, then what they could not check."""
    due = [check for check in LIVE_CHECKS if check.is_due(live)]
    for check in due:
        yield from check.run(live)
    yield from _unchecked(live, due)


def _unchecked(live: Live, due: list[LiveCheck]) -> Iterator[Diagnostic]:
    """Yield each kind that a rule needs and that could not be read."""
    needed: dict[Resource, list[str]] = {}
    for check in due:
        for resource in check.needs(live):
            needed.setdefault(resource, []).append(check.rule.id)
    for resource, reason in live.facts.without(needed):
        message = f"{resource.display}: {reason}; not checked: {', '.join(needed[resource])}"
        yield UNCHECKED.at(live.at, message, hint=_hint(live, resource))


def _hint(live: Live, resource: Resource) -> str:
    """Return what makes a kind readable: a right, or a dump that has it."""
    if not live.facts.server:
        return f"Add `kubectl get {resource.name} -A -o json` to the dump."
    (rule,) = rules_of([resource])
    return f"Add this rule to the ClusterRole of the account that reads: `{json.dumps(rule)}`."
