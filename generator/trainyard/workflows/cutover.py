"""Plan the cut-over of a cluster from its profiles, and from what an import noted of its queues."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping
from pathlib import Path

from trainyard.diagnostics import TreeError
from trainyard.model.lookup import mapping, mappings, text
from trainyard.plainfile import NotRegularError, TooLargeError, read_regular

_QUEUE = "ClusterQueue"


def old_queues(root: Path, cluster: str) -> Mapping[str, Collection[str]]:
    """Return the ClusterQueues that each team had, as `trainyard import` noted them.

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
    found: dict[str, set[str]] = defaultdict(set)
    for row in mappings(mapping(mapping(noted).get("result")).get("rows")):
        if text(row.get("resource")) == _QUEUE:
            found[text(row.get("team"))].add(text(row.get("was")))
    return found
