"""Objects that leave while another, under a new name, takes their place."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from trainyard.model.identity import Identity

_VERSION = re.compile(r"-v(\d+)-")
"""Of a runtime, in the names that `model/names.py` composes."""


def replaced(
    gone: Iterable[Identity], new: Iterable[Identity], renamed: Mapping[str, str]
) -> dict[Identity, Identity]:
    """Return what takes the place of what: identity of a new object -> that of the old one.

    A runtime gives way to its next version, and an object of a renamed team to the same one under
    the team's new name.

    Args:
        gone: objects that leave the tree.
        new: objects that join it.
        renamed: old name of a team -> its new name.
    """
    free = set(new)
    found = {}
    for old in sorted(gone):
        taken = next((each for each in _under_new_names(old, renamed) if each in free), None)
        if taken is not None:
            free.remove(taken)
            found[taken] = old
    return found | dict(_next_versions(set(gone) - set(found.values()), free))


def _under_new_names(old: Identity, renamed: Mapping[str, str]) -> Iterator[Identity]:
    for before, after in sorted(renamed.items()):
        word = re.compile(rf"(?<![a-z0-9]){re.escape(before)}(?![a-z0-9])")
        namespace, name = (word.sub(after, each) for each in (old.namespace, old.name))
        if (namespace, name) != (old.namespace, old.name):
            yield Identity(old.kind, namespace, name)


def _next_versions(
    gone: Iterable[Identity], new: Iterable[Identity]
) -> Iterator[tuple[Identity, Identity]]:
    """Yield the pairs of runtimes that differ in their version only, the latest of both sides."""
    before, after = _by_stem(gone), _by_stem(new)
    for stem in sorted(before.keys() & after.keys()):
        yield from zip(after[stem], before[stem], strict=False)


def _by_stem(runtimes: Iterable[Identity]) -> dict[str, list[Identity]]:
    """Return runtimes by their name without version, the latest version first."""
    stems: dict[str, list[Identity]] = defaultdict(list)
    for each in sorted(runtimes, key=_version, reverse=True):
        if each.kind == "ClusterTrainingRuntime":
            stems[_VERSION.sub("-", each.name)].append(each)
    return stems


def _version(runtime: Identity) -> tuple[int, Identity]:
    match = _VERSION.search(runtime.name)
    return int(match[1]) if match else 0, runtime
