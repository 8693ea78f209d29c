"""The rule on retired teams: they are drained in an earlier merge."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from trainyard.change.history.replacement import Replacement
from trainyard.diagnostics import Diagnostic
from trainyard.model.identity import team_of
from trainyard.rules.change.retired_without_draining import RULE as RETIRED_WITHOUT_DRAINING


def retired_without_draining(replacement: Replacement) -> Iterator[Diagnostic]:
    """Find teams that are retired though a committed queue of theirs lets jobs run."""
    queues: dict[str, list[str]] = defaultdict(list)
    for queue in replacement.open_queues():
        queues[team_of(queue)].append(queue.name)
    for team in replacement.platform.teams:
        if team.state == "retired" and team.name in queues:
            where = f"{', '.join(queues[team.name])} of cluster `{replacement.site.name}`"
            message = (
                f"team {team.name} would be retired while jobs may run in ClusterQueue {where}"
            )
            yield RETIRED_WITHOUT_DRAINING.at(team.at / "state", message)
