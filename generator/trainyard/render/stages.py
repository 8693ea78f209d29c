"""Scopes of what depends on the stages of teams: bindings of policies, and limits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, TypeAlias

from trainyard.model import names
from trainyard.model.adoption import ENFORCED, Firmness, Stage
from trainyard.model.launch import Launch
from trainyard.model.platform import Site
from trainyard.model.space import Space
from trainyard.render import scopes
from trainyard.render.scopes import Scope, spaces_that

Scopes: TypeAlias = Callable[[Site], Iterable[Scope]]
_QUEUE = "kueue.x-k8s.io/queue-name"
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
        objects: selector of the objects, by their labels.
        rules: of the policy's resources, these alone; all if empty.
    """

    name: str
    firmness: Firmness
    selected: list[dict[str, Any]]
    objects: dict[str, Any] = field(default_factory=dict)
    rules: list[dict[str, Any]] = field(default_factory=list)


def _usual(stage: Stage) -> Firmness:
    return stage.usual


def of_nodes(stage: Stage) -> Firmness:
    """Return how policies hold that decide which pods get the pools' nodes."""
    return stage.of_nodes


def always(_: Stage) -> Firmness:
    """Return how policies hold that no stage spares."""
    return ENFORCED


def _rule(groups: list[str], operations: list[str], *resources: str) -> dict[str, Any]:
    return {
        "apiGroups": groups,
        "apiVersions": ["*"],
        "operations": operations,
        "resources": list(resources),
        "scope": "Namespaced",
    }


_WRITES = ["CREATE", "UPDATE"]
_OF_JOBS = [
    _rule(["kubeflow.org"], _WRITES, "mpijobs"),
    _rule(["trainer.kubeflow.org"], _WRITES, "trainingruntimes", "trainjobs"),
]
_OF_RANKS = [
    _rule([""], ["DELETE"], "pods"),
    _rule([""], ["CREATE"], "pods/eviction"),
    _rule(["policy"], _WRITES, "poddisruptionbudgets"),
]
"""What says how long a job's pod keeps its node."""


def copies_name(scope: Scope) -> str:
    """Return the name of the binding of the policy on copies of a scope's runtime."""
    launch = scope.variables["launch"]
    assert isinstance(launch, Launch)
    return names.copies_of(launch.name)


def bound(
    name: str | Callable[[Scope], str],
    wanted: Scopes,
    firmness: Callable[[Stage], Firmness] = _usual,
) -> Scopes:
    """Return scopes for the bindings of a policy: one for the teams that it holds, by their label.

    Teams that it does not hold yet have another, by the names of their namespaces.

    Args:
        name: of the binding, or the function that returns it.
        wanted: one set of bindings for each.
        firmness: of a stage.
    """

    def bindings(site: Site) -> Iterator[Scope]:
        for scope in wanted(site):
            own = name if isinstance(name, str) else name(scope)
            yield from (_with(each, scope) for each in _bindings(own, firmness, site))

    return bindings


def _spared(site: Site, firmness: Callable[[Stage], Firmness]) -> list[tuple[str, list[Space]]]:
    """Return the namespaces of teams that a policy does not hold yet, by their stage, sorted."""
    spared: dict[str, list[Space]] = defaultdict(list)
    for space in site.spaces:
        if firmness(space.team.stage) != ENFORCED:
            spared[space.team.stage.word].append(space)
    return sorted(spared.items())


def _bindings(name: str, firmness: Callable[[Stage], Firmness], site: Site) -> Iterator[Bound]:
    spared = _spared(site, firmness)
    teams: list[dict[str, Any]] = [{"key": site.cluster.team_label_key, "operator": "Exists"}]
    if spared:
        teams.append(_named("NotIn", chain.from_iterable(spaces for _, spaces in spared)))
    yield Bound(name, ENFORCED, teams)
    for word, spaces in spared:
        firm = firmness(spaces[0].team.stage)
        yield Bound(names.staged(name, word), firm, [_named("In", spaces)])
        if firmness is of_nodes:
            yield _of_queued(name, spaces)


def _of_queued(name: str, spaces: list[Space]) -> Bound:
    """Return the binding that holds what waits in the queues of observed teams.

    It starts as soon as the queues are open, and no policy looks at it again.
    """
    return Bound(names.queued(name), ENFORCED, [_named("In", spaces)], _waiting(spaces))


def _waiting(spaces: Iterable[Space]) -> dict[str, Any]:
    """Return the selector of jobs in the queues of some namespaces."""
    queues = {queue.name for space in spaces for queue in space.local_queues}
    queues.add(names.DEFAULT_QUEUE)
    chosen = {"key": _QUEUE, "operator": "In", "values": sorted(queues)}
    return {"matchExpressions": [chosen]}


def of_jobs(name: str) -> Scopes:
    """Return scopes for the bindings of a policy of which what it says of jobs is never spared.

    Where a team's jobs wait, these are those in its queues; where they run, their pods too.
    """
    usual = bound(name, scopes.cluster)

    def bindings(site: Site) -> Iterator[Scope]:
        yield from usual(site)
        for word, spaces in _spared(site, _usual):
            observed = word == "observe"
            own = replace(
                _of_queued(names.staged(name, word), spaces),
                objects=_waiting(spaces) if observed else {},
                rules=_OF_JOBS if observed else [*_OF_JOBS, *_OF_RANKS],
            )
            yield from (_with(own, scope) for scope in scopes.cluster(site))

    return bindings


def beside_others(
    name: str, held: Callable[[Space], bool] = lambda _: True, own: tuple[str, ...] = ()
) -> Scopes:
    """Return scopes for the bindings of a policy that holds every namespace of the cluster.

    While the cluster spares others, it holds the namespaces of teams by a binding of their own.

    Args:
        name: of the binding.
        held: whether it holds a team's namespace then.
        own: further namespaces that it holds then.
    """
    wanted = scopes.cluster

    def bindings(site: Site) -> Iterator[Scope]:
        adoption = site.cluster.adoption
        teams = (space.namespace for space in site.spaces if held(space))
        kept = {*own, *teams}
        bounds = [Bound(name, ENFORCED, [])]
        if not adoption.refuses:
            others = [_in_namespaces("NotIn", kept)] if kept else []
            bounds = [Bound(name, Firmness(adoption.actions, "Allow"), others)]
            if kept:
                bounds.append(Bound(names.of_teams(name), ENFORCED, [_in_namespaces("In", kept)]))
        for scope in wanted(site):
            yield from (_with(each, scope) for each in bounds)

    return bindings


def held_on_nodes(space: Space) -> bool:
    """Return whether policies on the pools' nodes hold a namespace: its queues may be open."""
    return space.team.stage.of_nodes == ENFORCED


def of_spaces(name: Callable[[Space], str], spaces: Scopes) -> Scopes:
    """Return scopes for the bindings of a policy whose limits each namespace has of its own.

    Args:
        name: of a namespace's binding.
        spaces: one for each namespace.
    """

    def bindings(site: Site) -> Iterator[Scope]:
        for scope in spaces(site):
            space = scope.variables["space"]
            assert isinstance(space, Space)
            firm = space.team.stage.of_nodes
            yield _with(Bound(name(space), firm, []), scope)
            if firm != ENFORCED:
                yield _with(_of_queued(name(space), [space]), scope)

    return bindings


def _with(own: Bound, scope: Scope) -> Scope:
    return replace(scope, variables={**scope.variables, "bound": own})


def _named(operator: str, spaces: Iterable[Space]) -> dict[str, Any]:
    """Return the expression that a namespace has one of some names, or none."""
    return _in_namespaces(operator, (space.namespace for space in spaces))


def _in_namespaces(operator: str, namespaces: Iterable[str]) -> dict[str, Any]:
    return {"key": _NAME, "operator": operator, "values": sorted(namespaces)}


def limited_spaces(site: Site) -> Iterator[Scope]:
    """Yield each namespace with limits: of teams that are held to the rules."""
    yield from spaces_that(site, lambda space: space.team.stage.enforces)


def open_spaces(site: Site) -> Iterator[Scope]:
    """Yield each namespace whose network is open until its team is held to the rules."""
    yield from spaces_that(site, lambda space: not space.team.stage.enforces)
