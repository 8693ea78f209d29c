"""Compare the runtimes of a cluster, their pods, and the namespaces that may use them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from trainyard.change.impact.uses import Use, Used, ending, parts_of, spaces_of, uses, why_lost
from trainyard.change.impact.values import differing
from trainyard.change.objects import Objects, Sides, of_kind
from trainyard.model.differences import differences, few
from trainyard.model.lookup import mapping, mappings, text
from trainyard.model.manifest import Manifest


def described(old: Manifest, new: Manifest) -> tuple[str, ...]:
    """Return the differences of two ClusterTrainingRuntimes.

    Args:
        old: the runtime before.
        new: the runtime after.

    Returns:
        One line for each image and each variable, however many containers have it; the last line
        has the other fields.
    """
    before, after = old.body.get("spec", {}), new.body.get("spec", {})
    images: set[tuple[str, str]] = set()
    variables: set[str] = set()
    for one, other in _pairs(before, after):
        images.add((text(one, "image"), text(other, "image")))
        changed = differences(_environment(one), _environment(other))
        variables.update(f"environment {each.path} {each.display}" for each in changed)
    lines = sorted(f"image {one} -> {other}" for one, other in images if one != other)
    return (*lines, *sorted(variables), *_others(before, after))


def _others(before: Any, after: Any) -> Iterator[str]:
    """Yield the first fields that differ, in one line."""
    fields = set()
    for field in differences(before, after):
        if not _IMAGE_OR_ENV.search(field.path):
            fields.add(f"{_tail(field.path)} {field.display}")
    if fields:
        yield few(sorted(fields))


_IMAGE_OR_ENV = re.compile(r"ontainers\[[^]]+]\.(?:image|env|env\[.*)\Z", re.DOTALL)


def _pairs(before: Any, after: Any) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield each container of both sides; one that is new or gone is among the other fields."""
    old, new = dict(_containers(before)), dict(_containers(after))
    for place in sorted(old.keys() & new.keys()):
        yield old[place], new[place]


def _containers(spec: Any) -> Iterator[tuple[tuple[str, str], dict[str, Any]]]:
    """Yield each container of each replicated job, by the names of both."""
    for job in mappings(spec, "template", "spec", "replicatedJobs"):
        pod = mapping(job, "template", "spec", "template", "spec")
        for kind in ("initContainers", "containers"):
            for container in mappings(pod, kind):
                yield (text(job, "name"), text(container, "name")), container


def _environment(container: Any) -> dict[str, str]:
    variables = {}
    for variable in mappings(container, "env"):
        value = variable.get("value", variable.get("valueFrom"))
        variables[text(variable, "name")] = str(value)
    return variables


def _tail(path: str) -> str:
    """Return the field without the replicated job and container that it is in."""
    return path.rpartition("].")[2].removeprefix("template.spec.")


@dataclass(frozen=True, slots=True)
class RuntimeChange:
    """A runtime that changes in the same way for some namespaces, on some nodes.

    Args:
        runtime: with its version, e.g. ``openmpi-v1``.
        nodes: hardware profiles or classes of node, sorted.
        objects: names of the ClusterTrainingRuntimes, sorted.
        change: ``added`` or ``retired`` for these namespaces; for all that may use it
            ``deprecated until DATE``, ``supported again`` or ``changed``.
        details: one line each, e.g. ``image ...@sha256:1 -> ...@sha256:2``; of a version that is
            added, what differs from the version that it follows; why it is retired.
        spaces: namespaces of teams, without the prefix of all of them; sorted.
    """

    runtime: str
    nodes: tuple[str, ...]
    objects: tuple[str, ...]
    change: str
    details: tuple[str, ...]
    spaces: tuple[str, ...]


_WHOLE = "a whole node"


class _Change(NamedTuple):
    """What changes of a runtime for one namespace, as in `RuntimeChange`.

    Args:
        space: empty for an object that no namespace lists.
    """

    runtime: str
    change: str
    details: tuple[str, ...]
    nodes: str
    space: str
    name: str


def runtime_changes(sides: Sides) -> tuple[RuntimeChange, ...]:
    """Return what changes of the runtimes, sorted by runtime; equal changes once."""
    before, after = uses(sides.before, sides.renamed), uses(sides.after, {})
    changes = (
        *_gained(sides, before, after),
        *_lost(sides, before, after),
        *_replaced(sides, before, after),
        *_edited(sides, after),
    )
    return tuple(_merged(changes))


def _gained(
    sides: Sides, before: Mapping[Use, Used], after: Mapping[Use, Used]
) -> Iterator[_Change]:
    old, new = _runtimes(sides.before), _runtimes(sides.after)
    spaces = spaces_of(sides.before, sides.renamed)
    news: dict[str, tuple[str, ...]] = {}
    for use, used in after.items():
        if use in before or used.name not in new or _is_new_space(use, used, spaces):
            continue
        if used.name not in news:
            news[used.name] = tuple(_news(old, new[used.name], used.name))
        yield _Change(use.runtime, "added", news[used.name], use.nodes, use.space, used.name)


def _news(old: Mapping[str, Manifest], runtime: Manifest, name: str) -> Iterator[str]:
    """Yield what a runtime has that the version before it lacks."""
    former = _former(name, old)
    yield from described(former, runtime) if former else ()
    yield from _end(runtime)


def _lost(sides: Sides, before: Mapping[Use, Used], after: Mapping[Use, Used]) -> Iterator[_Change]:
    spaces = spaces_of(sides.after, {})
    for use, used in before.items():
        if use not in after and not _is_new_space(use, used, spaces):
            reason = why_lost(sides, use, used)
            details = (reason,) if reason else ()
            yield _Change(use.runtime, "retired", details, use.nodes, use.space, used.name)


def _replaced(
    sides: Sides, before: Mapping[Use, Used], after: Mapping[Use, Used]
) -> Iterator[_Change]:
    """Yield the uses with another object.

    The part of a node that a pod has, and the networks that it attaches to, are in its name.
    """
    old, new = _runtimes(sides.before), _runtimes(sides.after)
    for use, was, now in differing(before, after):
        if was.name == now.name:
            continue
        details = [f"jobs name it {was.name} -> {now.name}"]
        if was.part != now.part:
            details.append(f"a pod has {was.part or _WHOLE} -> {now.part or _WHOLE}")
        if was.name in old and now.name in new:
            details += described(old[was.name], new[now.name])
        yield _Change(use.runtime, "changed", tuple(details), use.nodes, use.space, now.name)


def _edited(sides: Sides, after: Mapping[Use, Used]) -> Iterator[_Change]:
    """Yield the edits of each object on both sides, for each namespace that may use it."""
    users: dict[str, list[Use]] = defaultdict(list)
    for use, used in after.items():
        users[used.name].append(use)
    old, new = _runtimes(sides.before), _runtimes(sides.after)
    for name in old.keys() & new.keys():
        runtime, _, nodes = parts_of(name)
        for change, details in _edits(old[name], new[name]):
            for use in users[name] or [Use(runtime, nodes, "")]:
                yield _Change(runtime, change, details, use.nodes, use.space, name)


def _edits(before: Manifest, after: Manifest) -> Iterator[tuple[str, tuple[str, ...]]]:
    if _end(before) != _end(after):
        yield next(iter(_end(after)), "supported again"), ()
    if details := described(before, after):
        yield "changed", details


def _merged(changes: Iterable[_Change]) -> Iterator[RuntimeChange]:
    """Yield equal changes once: first of all namespaces on some nodes, then on all nodes."""
    spaces: dict[tuple[str, str, tuple[str, ...], str], set[_Change]] = defaultdict(set)
    for change in changes:
        spaces[change.runtime, change.change, change.details, change.nodes].add(change)
    groups: dict[tuple[str, str, tuple[str, ...], tuple[str, ...]], set[_Change]] = defaultdict(set)
    for (runtime, word, details, _), same in spaces.items():
        groups[runtime, word, details, _named(change.space for change in same)] |= same
    for (runtime, word, details, named), same in sorted(groups.items()):
        nodes = _named(change.nodes for change in same)
        objects = _named(change.name for change in same)
        yield RuntimeChange(runtime, nodes, objects, word, details, named)


def _named(names: Iterable[str]) -> tuple[str, ...]:
    """Return each name once, sorted; an empty one stands for none."""
    return tuple(sorted({*names} - {""}))


def _is_new_space(use: Use, used: Used, other: Mapping[str, str]) -> bool:
    """Return whether a namespace is on one side only, and its team on both: Access shows it."""
    return use.space not in other and used.team in other.values()


def _runtimes(objects: Objects) -> dict[str, Manifest]:
    return {runtime.name: runtime for runtime in of_kind(objects, "ClusterTrainingRuntime")}


def _end(runtime: Manifest) -> tuple[str, ...]:
    """Return until when a runtime is deprecated; nothing when it is supported."""
    end = ending(mapping(runtime.body, "metadata", "annotations"), "/deprecated-until")
    return (f"deprecated until {end}",) if end else ()


def _former(name: str, old: Mapping[str, Manifest]) -> Manifest | None:
    """Return the version that a new one follows; None when it is the first on its nodes."""
    runtime, version, nodes = parts_of(name)
    family = runtime.removesuffix(str(version))
    earlier = []
    for other in map(parts_of, old):
        same = other.nodes == nodes and other.runtime == f"{family}{other.version}"
        if same and other.version < version:
            earlier.append(other.version)
    return old[f"{family}{max(earlier)}-{nodes}"] if earlier else None
