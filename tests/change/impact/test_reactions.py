"""The table of reactions has an entry for every edit of every kind, and each has its source."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.change.impact.platforms import described, own, sides
from tests.conftest import REPOSITORY
from trainyard.change.impact.objects import ObjectChange
from trainyard.change.impact.reaction import ANY, Edited, Effect, Reaction, always, nobody
from trainyard.change.impact.reactions.table import REACTIONS, reaction_to
from trainyard.change.objects import Sides
from trainyard.diagnostics import Pointer
from trainyard.model.differences import Difference
from trainyard.model.identity import identity
from trainyard.model.immutable import FIELDS
from trainyard.model.manifest import Manifest

AT = Pointer("overlays/lab/platform/x.yaml")
_RACK = REPOSITORY / "examples/gb200-nvlink/profiles"
KINDS = sorted({each.kind.name for _, made in (*own(), *described(_RACK)) for each in made})
VERBS = ("created", "changed", "deleted")

_SOURCE = re.compile(
    r"seen with (Kueue|Argo CD|Kubernetes) [\d.]+( and [\d.]+)?|[\w.-]+/[\w.-]+:[\w./-]+@[\w.]+"
)


def groups() -> dict[tuple[str, str], list[Reaction]]:
    found: dict[tuple[str, str], list[Reaction]] = defaultdict(list)
    for each in REACTIONS:
        found[each.kind, each.change].append(each)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_the_tree_has_an_entry_for_every_change(kind: str) -> None:
    """The last one fits any field, whatever else holds."""
    for verb in VERBS:
        last = groups()[kind, verb][-1]
        assert (last.fields, last.when) == (ANY, always), (kind, verb)


@pytest.mark.parametrize("kind", sorted(FIELDS))
def test_every_kind_with_immutable_fields_has_an_entry(kind: str) -> None:
    (only,) = groups()[kind, "recreated"]
    loses = Effect.DELETES if kind == "PersistentVolumeClaim" else Effect.RECREATES
    assert (only.fields, only.when, only.effect) == (ANY, always, loses)


def test_table_has_no_kind_that_no_tree_has() -> None:
    assert sorted({each.kind for each in REACTIONS}) == KINDS


def test_components_hold_no_other_kind() -> None:
    held = {kind for site, _ in own() for kind in site.cluster.release.component_kinds}
    assert held <= set(KINDS)


def test_no_entry_hides_a_later_one() -> None:
    """Of two without a condition, the first would be the only one that counts."""
    for key, entries in groups().items():
        fields = [each.fields for each in entries if each.when is always]
        assert len(set(fields)) == len(fields), key
        assert ANY not in fields[:-1], key


@pytest.mark.parametrize("reaction", REACTIONS, ids=lambda each: f"{each.kind} {each.change}")
def test_entry_says_what_happens_and_who_knows(reaction: Reaction) -> None:
    assert _SOURCE.fullmatch(reaction.source), reaction.source
    assert reaction.consequence.endswith(".")
    for sentence in re.split(r"(?<=[.:;]) ", reaction.consequence):
        assert len(sentence.split()) <= 25, sentence
    assert (reaction.when is always) == (reaction.condition == "")
    assert (reaction.effect is None) == (reaction.cause == "")
    assert reaction.effect is not None or reaction.reach is nobody
    assert (reaction.effect is Effect.DELETES) == (reaction.lost != "")
    assert not reaction.pace or reaction.effect in {Effect.DRAINS, Effect.REBOOTS}


def test_every_effect_has_an_entry() -> None:
    assert {each.effect for each in REACTIONS} == {None, *Effect}


@pytest.mark.parametrize("cluster", [0, 1])
def test_every_field_of_every_object_has_an_entry(cluster: int) -> None:
    """Also one that is gone, or that gets another value."""
    site, manifests = own()[cluster]
    objects = {identity(each): each for each in manifests}
    both = Sides(site.name, site, site, objects, objects)
    for manifest in manifests:
        for path, value in _fields(manifest.body, ""):
            for new in (None, _other(value)):
                edited = _edited(manifest, Difference(path, value, new))
                assert reaction_to(both, edited, "changed"), (manifest.path, path)
        for verb in ("created", "deleted"):
            assert reaction_to(both, _edited(manifest, None), verb), (manifest.path, verb)


def _edited(manifest: Manifest, field: Difference | None) -> Edited:
    change = ObjectChange(identity(manifest), "changed", "stateless", manifest.unit, "", ())
    return Edited(change, manifest, manifest, field)


def _fields(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if path:
        yield path, value
    if isinstance(value, dict):
        for key, inside in value.items():
            yield from _fields(inside, f"{path}.{key}".removeprefix("."))
    elif isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        for index, inside in enumerate(value):
            yield from _fields(inside, f"{path}[{inside.get('name', index)}]")


def _other(value: Any) -> Any:
    if isinstance(value, int):
        return value + 1
    return f"{value}1" if isinstance(value, str) else value


def test_kind_that_no_tree_has_has_no_entry() -> None:
    both = sides({}, {})
    first = next(iter(both.before.values()))
    unknown = Manifest(first.path, {**first.body, "kind": "Unknown"}, (), first.at)
    assert reaction_to(both, _edited(unknown, None), "deleted") is None


@pytest.mark.parametrize("reaction", REACTIONS, ids=lambda each: f"{each.kind}-{each.change}")
def test_condition_reads_an_object_that_somebody_broke(reaction: Reaction) -> None:
    """By hand somebody left neither metadata nor spec in a committed file."""
    bare = Manifest("platform/x.yaml", {"kind": reaction.kind, "apiVersion": "v1"}, (), AT)
    key = identity(bare)
    change = ObjectChange(key, reaction.change, "stateless", "platform", "", ())
    both = replace(sides({}, {}), before={key: bare}, after={key: bare})
    field = Difference("spec", {}, None) if reaction.change == "changed" else None

    assert reaction.when(both, Edited(change, bare, bare, field)) in {True, False}
