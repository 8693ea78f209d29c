"""Values for keys, mostly valid ones with names that exist, so that most edits are accepted."""

from __future__ import annotations

import copy
import json
import random
import re
import string
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from tests.changes.documents import Documents, at, files_of, places
from tests.changes.keys import ITEM, NAME, Key, children, schema_of
from tests.changes.references import NAMES, REFERENCES, found
from tests.changes.words import WORDS, WRONG
from trainyard.yaml_io.source import Plain

_OPTIONAL = 0.3
"""Share of the optional keys in a new mapping."""

_ONE_OF = {
    "cluster.egress.*": ("to", "namespaces"),
    "cluster.storage.*": ("nfs", "class", "s3", "adopted"),
    "team.quota.*.*": ("nodes", "gpus", "cores"),
}
"""Keys of which a new mapping has exactly one, although the schema permits several."""


class Values:
    """Values for the keys of some profiles.

    Args:
        order: source of all random choices.
        documents: the profiles.
    """

    def __init__(self, order: random.Random, documents: Documents) -> None:
        self._order = order
        self._documents = documents

    def new(self, key: Key) -> Plain:
        """Return a value of a key's schema."""
        schema = schema_of(key)
        kind = self._order.choice(_types(schema))
        if kind == "object":
            return self.mapping(key)
        if kind == "array":
            count = self._order.randint(schema.get("minItems", 1), 2)
            return _unique(
                [*schema.get("default", ()), *(self.new(key / ITEM) for _ in range(count))]
            )
        return copy.deepcopy(self._order.choice(list(self._scalars(key, schema, kind, None))))

    def other(self, key: Key, old: Plain) -> Plain:
        """Return another value of a key's schema, close to the old one like an edit by hand."""
        schema = schema_of(key)
        if isinstance(old, dict) and children(key):
            return self._other_mapping(key, old)
        if isinstance(old, list):
            return self._other_list(key, old)
        others = [
            each for each in self._scalars(key, schema, _scalar_type(old), old) if each != old
        ]
        return self._order.choice(others) if others else self.wrong(old)

    def name(self, key: Key, taken: Mapping[str, Plain]) -> str:
        """Return a name for a new entry of a mapping; a taken one if no other name fits."""
        rule = _name_rule(key)
        names = [*found(NAMES, key, self._documents), *self._peer_names(key), *WORDS]
        fits = [each for each in names if each not in taken and re.search(rule, each)]
        return self._order.choice(fits[:4] or sorted(taken))

    def wrong(self, old: Plain) -> Plain:
        """Return a value that most schemas refuse."""
        return copy.deepcopy(self._order.choice([each for each in WRONG if each != old]))

    def mapping(self, key: Key, wanted: str = "") -> dict[str, Plain]:
        """Return a new mapping for a key.

        Args:
            key: whose schema takes a mapping.
            wanted: step that the mapping must have.
        """
        below = list(children(key))
        if NAME in below:
            return {self.name(key / NAME, {}): self.new(key / NAME)}
        among = _ONE_OF.get(str(key), ())
        one = wanted if wanted in among else self._order.choice(among or below)
        needed = {*schema_of(key).get("required", ()), wanted, *([one] if among else [])}
        chosen = list(filter(partial(self._is_chosen, needed, among), below))
        return {step: self.new(key / step) for step in chosen or [one]}

    def _is_chosen(self, needed: Container[str], among: Container[str], step: str) -> bool:
        """Return whether a new mapping has a step; an optional one is chosen at random."""
        return step in needed or (step not in among and self._order.random() < _OPTIONAL)

    def _other_mapping(self, key: Key, old: dict[str, Plain]) -> dict[str, Plain]:
        """Return a mapping with one entry renamed, changed, added or removed, or a new one."""
        if old and NAME in children(key) and self._order.random() < 0.5:
            return self._renamed(key, old)
        changed = copy.deepcopy(old)
        self._change_entry(key, changed)
        return changed if changed != old else self.mapping(key)

    def _renamed(self, key: Key, old: dict[str, Plain]) -> dict[str, Plain]:
        """Return a mapping with one entry renamed, in the same order."""
        renamed = self._order.choice(sorted(old))
        name = self.name(key / NAME, old)
        changed = copy.deepcopy(old)
        return {name if each == renamed else each: below for each, below in changed.items()}

    def _change_entry(self, key: Key, mapping: dict[str, Plain]) -> None:
        """Change or remove one entry of a mapping, or add entries to it."""
        below = _keys_below(key, sorted(mapping))
        inside = list(below)
        if inside and self._order.random() < 0.7:
            name = self._order.choice(inside)
            mapping[name] = self.other(below[name], mapping[name])
        elif inside and self._order.random() < 0.5:
            del mapping[self._order.choice(inside)]
        else:
            mapping |= self.mapping(key)

    def _other_list(self, key: Key, old: list[Plain]) -> list[Plain]:
        changed = copy.deepcopy(old)
        choice = self._order.random()
        if len(changed) > 1 and choice < 0.3:
            del changed[self._order.randrange(len(changed))]
        elif len(changed) > 1 and choice < 0.4:
            changed.reverse()
        elif changed and choice < 0.6:
            index = self._order.randrange(len(changed))
            changed[index] = self.other(key / ITEM, changed[index])
        else:
            changed = _unique([*changed, self.new(key / ITEM)])
        return changed if changed != old else [*changed, self.wrong(None)]

    def _scalars(
        self, key: Key, schema: Mapping[str, Any], kind: str, old: Plain
    ) -> Iterator[Plain]:
        if "enum" in schema:
            yield from schema["enum"]
        elif kind == "boolean":
            yield from (True, False)
        elif kind == "integer":
            in_range = partial(_in_range, schema)
            yield from filter(in_range, self._numbers(key, schema, old))
        else:
            fits = partial(_fits, schema)
            yield from filter(fits, self._strings(key, schema, old))

    def _numbers(self, key: Key, schema: Mapping[str, Any], old: Plain) -> Iterator[int]:
        near = [old, *(each for each in self._peers(key) if type(each) is int)]
        for number in (each for each in near if type(each) is int):
            yield from (number - 1, number + 1, number * 2, number // 2)
        least, most = schema.get("minimum", 0), schema.get("maximum", 1000)
        yield from (
            least,
            least + 1,
            schema.get("default", least),
            self._order.randint(least, most),
        )

    def _strings(self, key: Key, schema: Mapping[str, Any], old: Plain) -> Iterator[str]:
        references = found(REFERENCES, key, self._documents)
        if references:
            yield from references
            yield "nobody" if old != "nobody" else "nothing"
            return
        peers = [each for each in self._peers(key) if isinstance(each, str)]
        yield from (*peers, *schema.get("examples", ()))
        for each in [old, *peers, *schema.get("examples", ())]:
            if isinstance(each, str):
                yield self._mutated(each)
        yield from WORDS

    def _mutated(self, text: str) -> str:
        """Return a text with one letter or digit exchanged for another."""
        where = [index for index, letter in enumerate(text) if letter.isalnum()]
        index = self._order.choice(where) if where else 0
        letters = string.digits if text[index : index + 1].isdigit() else string.ascii_lowercase
        return f"{text[:index]}{self._order.choice(letters)}{text[index + 1 :]}"

    def _peers(self, key: Key) -> list[Plain]:
        """Return the values of other profiles at the same key."""
        documents = (self._documents[file] for file in files_of(key.kind, self._documents))
        found = {
            json.dumps(at(each, place)): at(each, place)
            for each in documents
            for place in places(each, key.steps)
        }
        return [found[text] for text in sorted(found)]

    def _peer_names(self, key: Key) -> list[str]:
        documents = (self._documents[file] for file in files_of(key.kind, self._documents))
        return sorted({str(place[-1]) for each in documents for place in places(each, key.steps)})


def _keys_below(key: Key, names: Iterable[str]) -> dict[str, Key]:
    """Return the key of each entry of a mapping whose name the schema permits."""
    known = children(key)
    steps = {name: name if name in known else NAME for name in names}
    return {name: key / step for name, step in steps.items() if step in known}


def _types(schema: Mapping[str, Any]) -> list[str]:
    types = schema.get("type", "string")
    return [types] if isinstance(types, str) else list(types)


def _scalar_type(value: Plain) -> str:
    if type(value) is int:
        return "integer"
    return "string" if isinstance(value, str) else "boolean"


def _in_range(schema: Mapping[str, Any], number: int) -> bool:
    return bool(schema.get("minimum", number) <= number <= schema.get("maximum", number))


def _fits(schema: Mapping[str, Any], text: str) -> bool:
    """Return whether a string has the pattern and the length of a schema."""
    least, most = schema.get("minLength", 0), schema.get("maxLength", 300)
    return bool(re.search(schema.get("pattern", ""), text)) and least <= len(text) <= most


def _unique(items: list[Plain]) -> list[Plain]:
    once: list[Plain] = []
    for each in items:
        if each not in once:
            once.append(each)
    return once


def _name_rule(key: Key) -> str:
    """Return the pattern of the names that a mapping takes."""
    schema = schema_of(Key(key.kind, key.steps[:-1]))
    patterns = list(schema.get("patternProperties", ()))
    if patterns:
        return str(patterns[0])
    reference = schema.get("propertyNames", {}).get("$ref", "").removeprefix("#/definitions/")
    return str(schema_of(Key(key.kind))["definitions"][reference]["pattern"]) if reference else ""
