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
    left, free = set(gone), set(new)
    found: dict[Identity, Predecessor] = {}
    for old in sorted(left):
        for taken, reason in _under_new_names(old, renamed):
            if taken in free:
                left.remove(old)
                free.remove(taken)
                found[taken] = Predecessor(old, reason)
                break
    return found | dict(_next_versions(left, free))


def _under_new_names(old: Identity, renamed: Mapping[str, str]) -> Iterator[tuple[Identity, str]]:
    for before, after in sorted(renamed.items()):
        word = re.compile(rf"(?<![a-z0-9]){re.escape(before)}(?![a-z0-9])")
        new = Identity(old.kind, word.sub(after, old.namespace), word.sub(after, old.name))
        if new != old:
            yield new, f"team `{before}` is now `{after}`"


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
    for runtime in sorted(runtimes, reverse=True):
        if runtime.kind == "ClusterTrainingRuntime" and _VERSION.search(runtime.name):
            stems[_VERSION.sub("-", runtime.name)].append(runtime)
    for versions in stems.values():
        versions.sort(key=_version, reverse=True)
    return stems


def _version(runtime: Identity) -> int:
    match = _VERSION.search(runtime.name)
    return int(match[1]) if match else 0
