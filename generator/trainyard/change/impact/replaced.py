"""Objects that leave while another, under a new name, takes their place."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from trainyard.model.identity import Identity

_VERSION = re.compile(r"-v(\d+)-")
"""Of a runtime, in the names that `model/names.py` composes."""


class Predecessor(NamedTuple):
    """What an object takes the place of, and why: ``version 2 -> 3`` or a team's new name."""

    identity: Identity
    reason: str


def replaced(
    gone: Iterable[Identity], new: Iterable[Identity], renamed: Mapping[str, str]
) -> dict[Identity, Predecessor]:
    """Return the predecessors of new objects.

    A runtime gives way to its next version, and an object of a renamed team to the same one under
    the team's new name.

    Args:
        gone: objects that leave the tree.
        new: objects that join it.
        renamed: old name of a team -> its new name.
    """
    free = set(new)
    found: dict[Identity, Predecessor] = {}
    for old in sorted(gone):
        for taken, reason in _under_new_names(old, renamed):
            if taken in free:
                free.remove(taken)
                found[taken] = Predecessor(old, reason)
                break
    taken_over = {each.identity for each in found.values()}
    return found | dict(_next_versions(set(gone) - taken_over, free))


def _under_new_names(old: Identity, renamed: Mapping[str, str]) -> Iterator[tuple[Identity, str]]:
    for before, after in sorted(renamed.items()):
        word = re.compile(rf"(?<![a-z0-9]){re.escape(before)}(?![a-z0-9])")
        namespace, name = (word.sub(after, each) for each in (old.namespace, old.name))
        if (namespace, name) != (old.namespace, old.name):
            yield Identity(old.kind, namespace, name), f"team `{before}` is now `{after}`"


def _next_versions(
    gone: Iterable[Identity], new: Iterable[Identity]
) -> Iterator[tuple[Identity, Predecessor]]:
    """Yield the runtimes that differ in their version only, the latest of both sides."""
    before, after = _by_stem(gone), _by_stem(new)
    for stem in sorted(before.keys() & after.keys()):
        for newer, older in zip(after[stem], before[stem], strict=False):
            yield newer, Predecessor(older, f"version {_version(older)} -> {_version(newer)}")


def _by_stem(runtimes: Iterable[Identity]) -> dict[str, list[Identity]]:
    """Return runtimes by their name without version, the latest version first."""
    stems: dict[str, list[Identity]] = defaultdict(list)
    versioned = (each for each in runtimes if _VERSION.search(each.name))
    for each in sorted(versioned, key=lambda each: (_version(each), each), reverse=True):
        if each.kind == "ClusterTrainingRuntime":
            stems[_VERSION.sub("-", each.name)].append(each)
    return stems


def _version(runtime: Identity) -> int:
    match = _VERSION.search(runtime.name)
    return int(match[1]) if match else 0
