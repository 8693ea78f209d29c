"""Find admission policies and bindings of the tree that the cluster does not have."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.facts import named
from trainyard.model.live import AFTER, Live
from trainyard.model.lookup import mapping, text, texts
from trainyard.model.readable import BINDINGS, POLICIES
from trainyard.rules._check import LiveCheck

RULE = Rule(
    id="preflight/missing-policy",
    severity=Severity.ERROR,
    summary="Each admission policy of the tree is there, and bound as the tree binds it.",
    why="""
        A policy without its binding refuses nothing: members may run what it is there to stop.
    """,
    fix="Sync the unit that has it; if it is gone again, find out who deletes it.",
)


def find(live: Live) -> Iterator[Diagnostic]:
    for resource in (POLICIES, BINDINGS):
        known = named(live.of(resource))
        for manifest in live.made(resource):
            if manifest.name not in known:
                yield RULE.at(manifest.at, f"{resource.kind} `{manifest.name}` is not there")
    known = named(live.of(BINDINGS))
    for manifest in live.made(BINDINGS):
        body = known.get(manifest.name)
        if body is not None and _binds(dict(body)) != _binds(manifest.body):
            policy, actions = _binds(dict(body))
            message = f"binding `{manifest.name}` is of {policy} with {', '.join(actions)}"
            yield RULE.at(manifest.at, message)


def _binds(body: dict[str, object]) -> tuple[str, tuple[str, ...]]:
    spec = mapping(body, "spec")
    return text(spec, "policyName"), tuple(sorted(texts(spec, "validationActions")))


LIVE = LiveCheck(RULE, find, (POLICIES, BINDINGS), (AFTER,))
