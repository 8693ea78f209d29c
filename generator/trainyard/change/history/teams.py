"""The rule on retired teams and clusters: they are drained in an earlier merge."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from trainyard.change.history.replacement import Replacement, open_queues
from trainyard.change.objects import Objects
from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.model.identity import team_of
from trainyard.rules.change.retired_without_draining import RULE as RETIRED_WITHOUT_DRAINING


def retired_without_draining(replacement: Replacement) -> Iterator[Diagnostic]:
    """Find teams that are retired though a committed queue of theirs lets jobs run."""
    queues: dict[str, list[str]] = defaultdict(list)
    for queue in replacement.open_queues():
        queues[team_of(queue)].append(queue.name)
    for team in replacement.platform.teams:
        state = team.state_on(replacement.site.name)
        if state.word == "retired" and team.name in queues:
            where = f"{', '.join(queues[team.name])} of cluster `{replacement.site.name}`"
            message = (
                f"team {team.name} would be retired while jobs may run in ClusterQueue {where}"
            )
            yield RETIRED_WITHOUT_DRAINING.at(state.at, message)


def cluster_retired_without_draining(cluster: str, before: Objects) -> Iterator[Diagnostic]:
    """Find that a cluster is retired though a committed queue of it lets jobs run.

    Args:
        cluster: a retired one.
        before: objects of the committed tree.
    """
    if queues := sorted(queue.name for queue in open_queues(before)):
        at = Pointer(f"profiles/clusters/{cluster}.yaml") / "state"
        message = (
            f"cluster `{cluster}` would be retired while jobs may run in ClusterQueue "
            f"{', '.join(queues)}"
        )
        yield RETIRED_WITHOUT_DRAINING.at(at, message)
