"""Plan the cut-over of a cluster from its profiles, and from what an import noted of its queues."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from trainyard.change.of_the_site import OldQueues
from trainyard.diagnostics import TreeError
from trainyard.model.lookup import mapping, mappings, text
from trainyard.plainfile import NotRegularError, TooLargeError, read_regular

_QUEUES = ("ClusterQueue", "LocalQueue")


def old_queues(root: Path, cluster: str) -> Mapping[str, OldQueues]:
    """Return the queues that each team had, as `trainyard import` noted them.

    Args:
        root: folder of the profiles.
        cluster: whose note is read.

    Returns:
        Nothing where there is no note.

    Raises:
        TreeError: the note can't be read.
    """
    name = f"adoption/{cluster}.json"
    try:
        noted = json.loads(read_regular(root.absolute().parent, name))
    except FileNotFoundError:
        return {}
    except (OSError, NotRegularError, TooLargeError, ValueError, RecursionError) as problem:
        raise TreeError(f"{name} can't be read: remove it, or run `trainyard import`") from problem
    found: dict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    for row in mappings(mapping(mapping(noted).get("result")).get("rows")):
        kind, was = text(row.get("resource")), text(row.get("was"))
        if kind in _QUEUES and ("/" in was) is (kind == "LocalQueue"):
            found[text(row.get("team"))][_QUEUES.index(kind)].add(was)
    return {team: OldQueues(*map(frozenset, queues)) for team, queues in found.items()}
