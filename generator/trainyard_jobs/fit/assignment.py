"""The flavor of each group of pods: labels, quota, nodes, and what would be evicted.

Source: kubernetes-sigs/kueue:pkg/scheduler/flavorassigner/flavorassigner.go@v0.19.2.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from trainyard.model.pool import Pool
from trainyard_jobs.fit.cohorts import Amount, Cohorts
from trainyard_jobs.fit.nodes import Placement, free_nodes, unplaced
from trainyard_jobs.fit.pods import Pods
from trainyard_jobs.fit.usage import Running, Snapshot


@dataclass(frozen=True, slots=True)
class Wanted:
    """Pods that get one flavor.

    Args:
        total: requests of all of them, in base units.
    """

    pods: tuple[Pods, ...]
    total: Mapping[str, int]

    @property
    def selector(self) -> dict[str, object]:
        """Labels that their nodes must have."""
        labels: dict[str, object] = {}
        for pod in self.pods:
            labels |= pod.selector
        return labels


@dataclass(frozen=True, slots=True)
class Shortage:
    """A resource of a flavor that is not enough.

    Args:
        limit: what the queue can use at most, or now.
        ever: whether it is never enough.
    """

    amount: Amount
    limit: int
    ever: bool


@dataclass(frozen=True, slots=True)
class Queueing:
    """A cluster's queues and nodes as they are used.

    Args:
        queue: node of the job's ClusterQueue.
        flavors: pools of the queue by flavor, in its order.
        placed: flavors whose pods Kueue places on nodes.
    """

    cohorts: Cohorts
    snapshot: Snapshot
    queue: str
    flavors: Mapping[str, Pool]
    placed: frozenset[str]

    def matching(self, wanted: Wanted) -> list[str]:
        """Return the flavors whose labels the pods accept; a label that no flavor has is passed."""
        return [name for name, pool in self.flavors.items() if _accept(wanted.selector, pool)]

    def free(self, flavor: str, evicted: Sequence[Running] = ()) -> list[dict[str, int]]:
        """Return what is free on each node of a flavor, without the pods of evicted jobs."""
        used: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for job in self.snapshot.running:
            if job not in evicted and any(name == flavor for name, _ in job.usage):
                for node, amounts in job.nodes.items():
                    used[node].update(amounts)
        pool = self.flavors[flavor]
        return free_nodes(pool.allocatable, pool.nodes, (used[node] for node in sorted(used)))

    def empty(self, flavor: str) -> list[dict[str, int]]:
        """Return the nodes of a flavor when nothing runs."""
        pool = self.flavors[flavor]
        return free_nodes(pool.allocatable, pool.nodes, ())


def _accept(selector: Mapping[str, object], pool: Pool) -> bool:
    labels = pool.labels
    return all(labels.get(key, value) == value for key, value in selector.items())


@dataclass(frozen=True, slots=True)
class Choice:
    """The flavor of a group of pods, and what it lacks there."""

    wanted: Wanted
    flavor: str
    shortages: tuple[Shortage, ...]

    @property
    def rank(self) -> int:
        """How far the pods are from starting there: 0 they fit, 1 they wait, 2 they never fit."""
        return max((2 if shortage.ever else 1 for shortage in self.shortages), default=0)

    @property
    def requests(self) -> Counter[Amount]:
        """What its pods request of the flavor."""
        total = self.wanted.total.items()
        return Counter({(self.flavor, resource): amount for resource, amount in total})


def groups_of(pods: Sequence[Pods], *, counts_pods: bool) -> list[Wanted]:
    """Return the pods that get one flavor each, in order.

    Args:
        pods: of a job.
        counts_pods: whether the queue has a quota of pods.
    """
    groups: defaultdict[str, list[Pods]] = defaultdict(list)
    for pod in pods:
        groups[pod.group].append(pod)
    return [Wanted(tuple(alike), _total(alike, counts_pods)) for alike in groups.values()]


def _total(pods: Sequence[Pods], counts_pods: bool) -> Counter[str]:
    total: Counter[str] = Counter()
    for pod in pods:
        amounts = {**pod.requests, "pods": 1} if counts_pods else pod.requests
        for name, amount in amounts.items():
            total[name] += amount * pod.count
    return total


def choose(queueing: Queueing, groups: Sequence[Wanted]) -> list[Choice]:
    """Return the flavor of each group: the first in which it fits, else that with the least lack.

    What a group requests counts for those after it. A group that fits its own quota comes before
    one that borrows.
    """
    choices: list[Choice] = []
    for wanted in groups:
        before = requests_of(choices)
        possible: list[Choice] = []
        for flavor in queueing.matching(wanted):
            shortages = tuple(_shortages(queueing, wanted, flavor, before))
            possible.append(Choice(wanted, flavor, shortages))
        if not possible:
            break
        choices.append(min(possible, key=lambda choice: _lack(queueing, choice, before)))
    return choices


def _shortages(
    queueing: Queueing, wanted: Wanted, flavor: str, before: Counter[Amount]
) -> Iterator[Shortage]:
    cohorts, queue = queueing.cohorts, queueing.queue
    for name, amount in sorted(wanted.total.items()):
        key = (flavor, name)
        requested = before[key] + amount
        most, now = cohorts.potential(queue, key), cohorts.available(queue, key)
        if requested > most:
            yield Shortage(key, most, ever=True)
        elif requested > now:
            yield Shortage(key, now, ever=False)


def _lack(queueing: Queueing, choice: Choice, before: Counter[Amount]) -> tuple[int, bool]:
    """Return how far pods are from starting with a flavor, then whether they would borrow."""
    for amount, more in choice.requests.items():
        if queueing.cohorts.borrows_with(queueing.queue, amount, before[amount] + more):
            return choice.rank, True
    return choice.rank, False


def requests_of(choices: Sequence[Choice]) -> Counter[Amount]:
    """Return what all groups request of each flavor."""
    total: Counter[Amount] = Counter()
    for choice in choices:
        total.update(choice.requests)
    return total


def shortages_of(choices: Sequence[Choice]) -> list[Shortage]:
    """Return what all groups lack."""
    return list(chain.from_iterable(choice.shortages for choice in choices))


def placements(choices: Sequence[Choice], flavor: str) -> list[Placement]:
    """Return the pods that a flavor's nodes must take."""
    wanted: list[Placement] = []
    for choice in choices:
        if choice.flavor == flavor:
            wanted += [Placement(pods.requests, pods.count) for pods in choice.wanted.pods]
    return wanted


def missing_nodes(
    queueing: Queueing, choices: Sequence[Choice], evicted: Sequence[Running] = ()
) -> dict[str, int]:
    """Return the pods that find no free node, by flavor on whose nodes Kueue places them."""
    missing = {}
    for flavor in sorted(queueing.placed.intersection(choice.flavor for choice in choices)):
        free = queueing.free(flavor, evicted)
        missing[flavor] = unplaced(free, placements(choices, flavor))
    return missing
