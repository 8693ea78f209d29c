"""Values for keys: mostly such as the schema wants and with names that exist, so that an edit comes
through."""

from __future__ import annotations

import copy
import json
import random
import re
import string
from collections.abc import Iterator, Mapping
from typing import Any

from tests.changes.documents import Documents, at, files_of, places
from tests.changes.keys import ITEM, NAME, Key, children, schema_of
from tests.changes.references import NAMES, REFERENCES, found
from trainyard.yaml_io.source import Plain

_OPTIONAL = 0.3
"""Share of the keys that a new mapping has beyond those that it needs."""

_WORDS = (
    *(
        "extra",
        "spare-2",
        "extra-v2",
        "2",
        "1.6",
        "64Gi",
        "36h",
        "10.200.0.0/16",
        "10.64.64.0/20",
        "0x0110",
        "110",
    ),
    *(
        "0x0300-0x03ff",
        "300-399",
        "ml.example.com/extra",
        "extra@example.com",
        "https://extra.example.com/x",
    ),
    *(
        "/export/extra",
        "StorageClass/extra",
        "extra.example.com",
        "0000:18:00.0",
        "15b3",
        "ens1f0",
        "mlx5_0",
    ),
    *(
        "all",
        "none",
        "2027-06-30",
        "scheduling/no-reserve",
        "profiles/teams/nlp.yaml",
        "A reason that is long enough",
    ),
    *(
        f"registry.example.com/ml/extra@sha256:{'ab' * 32}",
        "kustomize.config.k8s.io/v1alpha1",
        "Component",
    ),
)
"""Strings of every form that a schema asks for; which one fits, its pattern tells."""

WRONG: tuple[Plain, ...] = (
    "",
    0,
    -1,
    10**12,
    True,
    None,
    [],
    {},
    [None],
    {"": ""},
    "x" * 5000,
    "Ünicode",
    "null",
    "\n",
)


_ONE_OF = {
    "cluster.egress.*": ("to", "namespaces"),
    "cluster.storage.*": ("nfs", "class", "s3", "adopted"),
    "team.quota.*.*": ("nodes", "gpus"),
}
"""Keys of which a new mapping has exactly one, though the schema takes several."""


class Values:
    """Values for the keys of some profiles.

    Args:
        order: what chooses.
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
        """Return another value of a key's schema, as near to the old one as an edit by hand."""
        schema = schema_of(key)
        if isinstance(old, dict) and children(key):
            return self._other_mapping(key, old)
        if isinstance(old, list):
            return self._other_list(key, old)
        kind = "integer" if type(old) is int else "string" if isinstance(old, str) else "boolean"
        others = [each for each in self._scalars(key, schema, kind, old) if each != old]
        return self._order.choice(others) if others else self.wrong(old)

    def name(self, key: Key, taken: Mapping[str, Plain]) -> str:
        """Return a name for a new entry of a mapping; one that is taken when every name that fits
        is."""
        rule = _name_rule(key)
        names = [*found(NAMES, key, self._documents), *self._peer_names(key), *_WORDS]
        fits = [each for each in names if each not in taken and re.search(rule, each)]
        return self._order.choice(fits[:4] or sorted(taken))

    def wrong(self, old: Plain) -> Plain:
        """Return a value that most schemas refuse."""
        return copy.deepcopy(self._order.choice([each for each in WRONG if each != old]))

    def mapping(self, key: Key, wanted: str = "") -> dict[str, Plain]:
        """Return a new mapping for a key.

        Args:
            key: whose schema takes a mapping.
            wanted: step that it must have.
        """
        below = list(children(key))
        if NAME in below:
            return {self.name(key / NAME, {}): self.new(key / NAME)}
        among = _ONE_OF.get(str(key), ())
        one = wanted if wanted in among else self._order.choice(among or below)
        needed = {*schema_of(key).get("required", ()), wanted, *([one] if among else [])}
        chosen = [
            each
            for each in below
            if each in needed or (each not in among and self._order.random() < _OPTIONAL)
        ]
        return {step: self.new(key / step) for step in chosen or [one]}

    def _other_mapping(self, key: Key, old: dict[str, Plain]) -> dict[str, Plain]:
        """Return a mapping with one entry renamed, changed, added or removed, or a new one."""
        changed = copy.deepcopy(old)
        names = sorted(changed)
        free = NAME in children(key)
        if names and free and self._order.random() < 0.5:
            name = self._order.choice(names)
            return {
                self.name(key / NAME, old) if each == name else each: below
                for each, below in changed.items()
            }
        inside = [name for name in names if free or name in children(key)]
        if inside and self._order.random() < 0.7:
            name = self._order.choice(inside)
            changed[name] = self.other(
                key / (name if name in children(key) else NAME), changed[name]
            )
        elif inside and self._order.random() < 0.5:
            del changed[self._order.choice(inside)]
        else:
            changed |= self.mapping(key)
        return changed if changed != old else self.mapping(key)

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
            yield from (each for each in self._numbers(key, schema, old) if _in_range(schema, each))
        else:
            rule = schema.get("pattern", "")
            least, most = schema.get("minLength", 0), schema.get("maxLength", 300)
            strings = self._strings(key, schema, old)
            yield from (
                each for each in strings if re.search(rule, each) and least <= len(each) <= most
            )

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
        yield from (
            self._mutated(each)
            for each in [old, *peers, *schema.get("examples", ())]
            if isinstance(each, str)
        )
        yield from _WORDS

    def _mutated(self, text: str) -> str:
        """Return a text with one letter or digit exchanged for another."""
        where = [index for index, letter in enumerate(text) if letter.isalnum()]
        index = self._order.choice(where) if where else 0
        letters = string.digits if text[index : index + 1].isdigit() else string.ascii_lowercase
        return f"{text[:index]}{self._order.choice(letters)}{text[index + 1 :]}"

    def _peers(self, key: Key) -> list[Plain]:
        """Return what other profiles say at the same key."""
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


def _types(schema: Mapping[str, Any]) -> list[str]:
    types = schema.get("type", "string")
    return [types] if isinstance(types, str) else list(types)


def _in_range(schema: Mapping[str, Any], number: int) -> bool:
    return bool(schema.get("minimum", number) <= number <= schema.get("maximum", number))


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
