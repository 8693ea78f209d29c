"""Scopes of what depends on the stages of teams: bindings of policies, and limits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeAlias

from trainyard.model import names
from trainyard.model.adoption import ENFORCED, Firmness, Stage
from trainyard.model.launch import Launch
from trainyard.model.platform import Site
from trainyard.model.space import Space
from trainyard.render.scopes import Scope, spaces_that

Scopes: TypeAlias = Callable[[Site], Iterable[Scope]]
_NAME = "kubernetes.io/metadata.name"
"""Label of a namespace that the API server sets, and that nobody can change
(kubernetes/kubernetes:pkg/apis/core/v1/defaults.go@v1.36.3)."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A binding of a policy on teams, as templates read it.

    Args:
        name: of the binding.
        firmness: how it holds.
        selected: expressions that choose the namespaces.
    """

    name: str
    firmness: Firmness
    selected: list[dict[str, Any]]


def _usual(stage: Stage) -> Firmness:
    return stage.usual


def of_nodes(stage: Stage) -> Firmness:
    """Return how policies hold that decide which pods get the pools' nodes."""
    return stage.of_nodes


def copies_name(scope: Scope) -> str:
    """Return the name of the binding of the policy on copies of a scope's runtime."""
    launch = scope.variables["launch"]
    assert isinstance(launch, Launch)
    return names.copies_of(launch.name)


def bound(
    name: str | Callable[[Scope], str],
    scopes: Scopes,
    firmness: Callable[[Stage], Firmness] = _usual,
) -> Scopes:
    """Return scopes for the bindings of a policy: one for the teams that it holds, by their label.

    Teams that it does not hold yet have another, by the names of their namespaces.

    Args:
        name: of the binding, or the function that returns it.
        scopes: one set of bindings for each.
        firmness: of a stage.
    """

    def bindings(site: Site) -> Iterator[Scope]:
        for scope in scopes(site):
            own = name if isinstance(name, str) else name(scope)
            for each in _bindings(own, firmness, site):
                yield replace(scope, variables={**scope.variables, "bound": each})

    return bindings


def _bindings(name: str, firmness: Callable[[Stage], Firmness], site: Site) -> Iterator[Bound]:
    spared: dict[str, list[Space]] = defaultdict(list)
    for space in site.spaces:
        if firmness(space.team.stage) != ENFORCED:
            spared[space.team.stage.word].append(space)
    teams: list[dict[str, Any]] = [{"key": site.cluster.team_label_key, "operator": "Exists"}]
    if spared:
        teams.append(_named("NotIn", chain.from_iterable(spared.values())))
    yield Bound(name, ENFORCED, teams)
    for word, spaces in sorted(spared.items()):
        firm = firmness(spaces[0].team.stage)
        yield Bound(names.staged(name, word), firm, [_named("In", spaces)])


def _named(operator: str, spaces: Iterable[Space]) -> dict[str, Any]:
    """Return the expression that a namespace has one of some names, or none."""
    values = sorted(space.namespace for space in spaces)
    return {"key": _NAME, "operator": operator, "values": values}


def limited_spaces(site: Site) -> Iterator[Scope]:
    """Yield each namespace with limits: of teams that are held to the rules."""
    yield from spaces_that(site, lambda space: space.team.stage.enforces)


def open_spaces(site: Site) -> Iterator[Scope]:
    """Yield each namespace whose network is open until its team is held to the rules."""
    yield from spaces_that(site, lambda space: not space.team.stage.enforces)
