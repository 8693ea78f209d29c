"""Ask the rules what a running cluster contradicts, and name what could not be checked."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping

from trainyard.diagnostics import Diagnostic
from trainyard.model.facts import Resource
from trainyard.model.live import Live
from trainyard.model.rights import rules_of, rules_within
from trainyard.rules.check import LIVE_CHECKS
from trainyard.rules.preflight.adopted_differs import RULE as ADOPTED_DIFFERS
from trainyard.rules.preflight.field_not_served import RULE as FIELD_NOT_SERVED
from trainyard.rules.preflight.unchecked import RULE as UNCHECKED

_AGAIN = "Make the file again, or take it out of the folder."
RULES = (ADOPTED_DIFFERS, FIELD_NOT_SERVED, UNCHECKED, *(check.rule for check in LIVE_CHECKS))


def check_live(live: Live) -> Iterator[Diagnostic]:
    """Yield the findings of all rules about a cluster, then what they could not check."""
    due = [check for check in LIVE_CHECKS if check.is_due(live)]
    for check in due:
        yield from check.run(live)
    needed: dict[Resource, set[str]] = {}
    for check in due:
        for resource in check.needs(live):
            needed.setdefault(resource, set()).add(check.rule.id)
    yield from unchecked(live, needed)


def unchecked(live: Live, needed: Mapping[Resource, Collection[str]]) -> Iterator[Diagnostic]:
    """Yield the kinds that are needed and could not be read, those of one reason together.

    Args:
        live: the cluster.
        needed: what each kind is needed for.
    """
    for why in live.facts.skipped:
        yield UNCHECKED.at(live.at, f"{why}; what it has is not known", hint=_AGAIN)
    causes: dict[str, list[Resource]] = {}
    for resource, reason in live.facts.without(needed):
        causes.setdefault(reason, []).append(resource)
    for reason, unread in causes.items():
        kinds = ", ".join(resource.display for resource in unread)
        rules = ", ".join(sorted({each for resource in unread for each in needed[resource]}))
        message = f"{kinds}: {reason}; not checked: {rules}"
        yield UNCHECKED.at(live.at, message, hint=_hint(live, unread))


def _hint(live: Live, unread: list[Resource]) -> str:
    """Return what makes kinds readable: rights, or a dump that has them."""
    if live.facts.server:
        return " ".join(_rights(unread))
    shown = " and ".join(f"`{command}`" for command in _dumping(unread))
    return f"Make a dump of what the cluster has of them: {shown}."


def _rights(unread: list[Resource]) -> Iterator[str]:
    """Yield what the account that reads lacks."""
    if rules := rules_of(unread):
        added = json.dumps(rules)
        yield f"Add these rules to the ClusterRole of the account that reads: `{added}`."
    for namespace, rules in rules_within(unread).items():
        yield f"Give it a Role in namespace {namespace} with these rules: `{json.dumps(rules)}`."


def _dumping(unread: list[Resource]) -> Iterator[str]:
    """Yield the commands that print kinds; of a single object none that prints others."""
    kinds = [each.name for each in unread if not (each.only or each.within)]
    if kinds:
        # `kubectl get A,B` prints nothing at all where the cluster lacks one of the kinds.
        dump = "kubectl get $kind -A --show-managed-fields -o yaml; echo ---"
        yield f"for kind in {' '.join(kinds)}; do {dump}; done"
    for resource in unread:
        if resource.only:
            namespace, name = resource.only
            yield f"kubectl get {resource.name} {name} -n {namespace} -o yaml"
        if resource.within:
            yield f"kubectl get {resource.name} -n {resource.within} -o yaml"
