"""Each key of each profile has an answer: the review says what follows from its edit, or nothing
does.

``effects.yaml`` has the answers: for each key with a value of its own, and for each entry with a
name. A value is changed between two stated ones, and added where it may be absent. Each edit is
compared in both directions, alone and beside an edit of other teams.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.changes.documents import Documents, at, files_of, places
from tests.changes.keys import ITEM, NAME, Key, children, keys, schema_of
from tests.changes.told import Patch, State, committed, edited, merged, tell
from tests.conftest import REPOSITORY
from trainyard.yaml_io.source import Plain

ANSWERS: dict[str, dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("effects.yaml").read_text("utf-8")
)
OTHERS: Patch = {
    "teams/biology.yaml": {"groups": {"viewer": ["biology-guests"]}},
    "teams/vision.yaml": {"groups": {"viewer": ["other-guests"]}},
}
"""Edits of a team of each cluster, as another commit of the same pull request makes them."""

ACTIONS = {"added", "changed"}
"""What an edit does to a key: from no value to one or back, and between two stated values."""

KINDS = sorted({key.kind for key in keys()})
_VALUES = re.compile(r"\{(.+?) -> (.+?)\}(?!\})")


def answered() -> list[Key]:
    """Return the keys that need an answer; a mapping has those of its entries."""
    return [key for key in keys() if key.steps and (_is_value(key) or _is_entry(key))]


def _is_value(key: Key) -> bool:
    below = [key / step for step in children(key)]
    is_list = [each.steps[-1] for each in below] == [ITEM]
    is_item = key.steps[-1] == ITEM
    return not is_item and (not below or (is_list and not children(below[0])))


def _is_entry(key: Key) -> bool:
    return key.steps[-1] in {NAME, ITEM} and bool(children(key))


def test_every_key_has_an_answer() -> None:
    assert sorted(map(str, answered())) == sorted(ANSWERS)


def test_every_answer_is_a_sentence_or_a_reason() -> None:
    """A reason is for keys from which nothing follows, or that can't be edited."""
    for key, answer in ANSWERS.items():
        if "reason" in answer:
            assert answer.keys() == {"reason"}, key
        else:
            assert answer["edits"], key
            assert ("silent" in answer) != all("says" in each for each in answer["edits"]), key


def test_every_key_is_changed_and_added() -> None:
    """Each edit touches its key, and no action that the schema permits is left out."""
    wrong = []
    for key in answered():
        answer = ANSWERS[str(key)]
        tried = [_actions(str(key), case) for case in answer.get("edits", ())]
        wrong += [
            f"{key} {number}: is not touched" for number, each in enumerate(tried) if not each
        ]
        left = set() if "reason" in answer else _possible(key).difference(*tried)
        wrong += [f"{key}: {action}" for action in sorted(left)]
    assert not wrong, f"{len(wrong)} without an edit:\n" + "\n".join(wrong)


def _possible(key: Key) -> set[str]:
    """Return the actions on a key that its schema permits.

    An entry changes by its own keys, and a key with one value never.
    """
    above = Key(key.kind, key.steps[:-1])
    is_required = key.steps[-1] in schema_of(above).get("required", ())
    schema = schema_of(key)
    stays = schema.get("type") == "object" or len(schema.get("enum", "..")) == 1
    return ACTIONS - ({"added"} if is_required else set()) - ({"changed"} if stays else set())


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
def test_review_says_what_follows_from_an_edit(kind: str) -> None:
    """In each direction both values are named, whatever else the change has."""
    wrong = []
    for key, answer in ANSWERS.items():
        if key.partition(".")[0] == kind:
            for number, case in enumerate(answer.get("edits", ())):
                wrong += [f"{key} {number}: {each}" for each in _faults(answer, dict(case))]
    assert not wrong, "\n".join(wrong)


def _faults(answer: Mapping[str, Any], case: dict[str, Any]) -> Iterator[str]:
    says, former = case.pop("says", ""), json.dumps(case.pop("from", {}))
    before, beside = _base(former), _beside_of(former)
    after = edited(case, before)
    for forward, old, new in ((True, before, after), (False, after, before)):
        if not forward and str(says).startswith("error["):
            continue
        found = tell(old, new)
        yield from _missing(says, forward=forward, effects=found.effects)
        if answer.get("silent") and found.effects:
            yield f"is told, and not silent: {found.effects[0]}"
        if not found.edits:
            yield "the edit itself is not told"
    for forward, old, new in ((True, beside, after), (False, after, beside)):
        if forward or not str(says).startswith("error["):
            effects = tell(old, new).effects
            yield from _missing(
                says, forward=forward, effects=effects, where=" beside another edit"
            )


def _missing(
    says: Any, *, forward: bool, effects: tuple[str, ...], where: str = ""
) -> Iterator[str]:
    wanted = says if isinstance(says, str) else says[0 if forward else 1]
    sentence = wanted if forward or not isinstance(says, str) else _mirrored(wanted)
    for plain in filter(None, _plain(sentence).split(" && ")):
        if any(plain in line for line in effects):
            continue
        yield f"no line{where} says: {plain}\n  " + "\n  ".join(effects)


def _plain(says: str) -> str:
    """Return the sentence without its marks."""
    return _VALUES.sub(r"\1 -> \2", says).replace("{+}", "+").replace("{-}", "-")


def _mirrored(says: str) -> str:
    """Return what the opposite change says."""
    turned = _VALUES.sub(r"{\2 -> \1}", says)
    signs = {"{+}": "{-}", "{-}": "{+}"}
    return re.sub(r"\{[+-]\}", lambda found: signs[found[0]], turned)


@cache
def _base(patch: str) -> State:
    return edited(json.loads(patch)) if patch != "{}" else committed()


@cache
def _beside_of(patch: str) -> State:
    return edited(OTHERS, _base(patch))


def _actions(key: str, case: Mapping[str, Any]) -> set[str]:
    """Return what the edit of a case does to the key: "changed", "added" (or removed), or both."""
    kind, *steps = key.split(".")
    before = _patched(_documents(), case.get("from", {}))
    after = _patched(before, {file: case[file] for file in case if file.endswith(".yaml")})
    found = set()
    for file in files_of(kind, after):
        old, new = (_values(each.get(file), steps) for each in (before, after))
        for place in old.keys() | new.keys():
            if old.get(place) != new.get(place):
                found.add("changed" if place in old and place in new else "added")
    return found


def _values(value: Plain, steps: list[str]) -> dict[tuple[str | int, ...], Plain]:
    return {place: at(value, place) for place in places(value, steps)}


def _patched(documents: Documents, patch: Patch) -> dict[str, Plain]:
    return {**documents, **{file: merged(documents.get(file), patch[file]) for file in patch}}


@cache
def _documents() -> Documents:
    root = REPOSITORY / "profiles"
    files = [
        file for file in sorted(root.rglob("*.yaml")) if root / "components" not in file.parents
    ]
    return {str(file.relative_to(root)): yaml.safe_load(file.read_text("utf-8")) for file in files}
