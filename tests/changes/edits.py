"""One edit of a profile: a key is added, changed or removed."""

from __future__ import annotations

import copy
import random
from dataclasses import dataclass
from enum import StrEnum

from tests.changes.documents import Documents, at, files_of, folder_of, places
from tests.changes.keys import ITEM, NAME, Key, children
from tests.changes.values import Values
from trainyard.profiles.read import PACKAGE
from trainyard.yaml_io.reader import read
from trainyard.yaml_io.source import Plain

_WRONG = 0.1
"""Share of edits that give a key a value which its schema most likely refuses."""

_ANOTHER = 0.5
"""Share of edits that create a new entry of a mapping for a key, although there is one."""


class Action(StrEnum):
    """Action of an edit."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit of one profile.

    Args:
        key: the edited key.
        action: what the edit does to it.
        file: path of the profile below ``profiles/``.
        before, after: the profile as plain data; None if there is none.
    """

    key: Key
    action: Action
    file: str
    before: Plain
    after: Plain


def edit(documents: Documents, key: Key, action: Action, order: random.Random) -> Edit | None:
    """Return a random edit of a key; None if no profile permits it.

    Args:
        documents: the profiles.
        key: the key to edit.
        action: the action on it.
        order: source of all random choices.
    """
    chosen = _Editor(documents, key, order).choose(action)
    if chosen is None:
        return None
    file, after = chosen
    before = documents.get(file)
    return Edit(key, action, file, before, after) if after != before else None


class _Editor:
    def __init__(self, documents: Documents, key: Key, order: random.Random) -> None:
        self.documents = documents
        self.key = key
        self.order = order
        self.values = Values(order, documents)
        self.files = files_of(key.kind, documents)

    def choose(self, action: Action) -> tuple[str, Plain] | None:
        """Return a file and its new content; None if no profile permits the action."""
        if not self.key.steps:
            return self.profile(action)
        return self.add() if action is Action.ADDED else self.touch(action)

    def profile(self, action: Action) -> tuple[str, Plain] | None:
        """Add, change or remove a whole profile."""
        if action is Action.ADDED:
            free = self._free_file()
            return (free, self._root()) if free else None
        if not self.files:
            return None
        file = self.order.choice(self.files)
        if action is Action.REMOVED:
            return file, None
        return file, self.values.other(self.key, self.documents[file])

    def touch(self, action: Action) -> tuple[str, Plain] | None:
        """Change or remove an existing key."""
        found = [
            (file, place)
            for file in self.files
            for place in places(self.documents[file], self.key.steps)
        ]
        if not found:
            return None
        file, place = self.order.choice(found)
        after = copy.deepcopy(self.documents[file])
        parent, last = at(after, place[:-1]), place[-1]
        if action is Action.REMOVED:
            del parent[last]
        elif self.order.random() < _WRONG:
            parent[last] = self.values.wrong(parent[last])
        else:
            parent[last] = self.values.other(self.key, parent[last])
        return file, after

    def add(self) -> tuple[str, Plain] | None:
        """Add a key, and its parents if they do not exist."""
        parent, last = self.key.steps[:-1], self.key.steps[-1]
        found = [
            (file, place)
            for file in self.files
            for place in places(self.documents[file], parent)
            if _can_take(at(self.documents[file], place), last)
        ]
        if found:
            file, place = self.order.choice(found)
            after = copy.deepcopy(self.documents[file])
            self._put(at(after, place), self.key, self._value(self.key))
            return file, after
        return self._add_with_parents()

    def _add_with_parents(self) -> tuple[str, Plain] | None:
        file = self.order.choice(self.files) if self.files else self._free_file()
        if not file:
            return None
        after = copy.deepcopy(self.documents[file]) if file in self.documents else self._root()
        value, seen = after, Key(self.key.kind)
        for step in self.key.steps:
            value, seen = self._down(file, value, seen, step), seen / step
        return file, after

    def _down(self, file: str, value: Plain, seen: Key, step: str) -> Plain:
        """Return the value one step below; it is created if it does not exist."""
        key = seen / step
        following = next(iter(self.key.steps[len(key.steps) :]), "")
        inside = list(places(value, (step,)))
        if not inside or self._wants_another(step, following):
            self._make(file, value, key, following)
            inside = [place for place in places(value, (step,)) if place not in inside]
        (last,) = self.order.choice(inside)
        if following and not isinstance(value[last], list if following == ITEM else dict):
            value[last] = self._parent(key, following)
        return value[last]

    def _parent(self, key: Key, following: str) -> Plain:
        """Return a new list or mapping with a key for the following step."""
        return [] if following == ITEM else self.values.mapping(key, following)

    def _wants_another(self, step: str, following: str) -> bool:
        """Return whether a new entry of a mapping is created although there is one."""
        return bool(step == NAME and following) and self.order.random() < _ANOTHER

    def _make(self, file: str, value: Plain, key: Key, wanted: str) -> None:
        inherited = self._inherited(file, key)
        if inherited is not None:
            value[key.steps[-1]] = inherited
        elif wanted in children(key) and wanted not in {"", ITEM, NAME}:
            self._put(value, key, self.values.mapping(key, wanted))
        else:
            self._put(value, key, self._value(key))

    def _value(self, key: Key) -> Plain:
        return self.values.wrong(None) if self.order.random() < _WRONG else self.values.new(key)

    def _put(self, parent: Plain, key: Key, value: Plain) -> None:
        """Put the value of a key into its mapping or list."""
        if key.steps[-1] == ITEM:
            parent.append(value)
        elif key.steps[-1] == NAME:
            parent[self.values.name(key, parent)] = value
        else:
            parent[key.steps[-1]] = value

    def _inherited(self, file: str, key: Key) -> Plain:
        """Return a key's value in the preset that a hardware profile extends, if there is one."""
        preset = (self.documents.get(file) or {}).get("extends", "")
        shipped = PACKAGE / "presets" / f"{preset}.yaml"
        if key.kind != "hardware" or len(key.steps) != 1 or not shipped.is_file():
            return None
        source, _ = read(shipped.name, shipped.read_bytes())
        return copy.deepcopy(source.value.get(key.steps[0]))

    def _root(self) -> Plain:
        """Return a new profile, more often a copy of another, as people create them."""
        if self.files and self.order.random() < 0.7:
            return copy.deepcopy(self.documents[self.order.choice(self.files)])
        return self.values.new(Key(self.key.kind))

    def _free_file(self) -> str:
        folder = folder_of(self.key.kind)
        if not folder:
            return "" if self.files else f"{self.key.kind}.yaml"
        ending = "/kustomization.yaml" if self.key.kind == "component" else ".yaml"
        files = (f"{folder}/{name}{ending}" for name in ("extra", "spare", "third"))
        return next((file for file in files if file not in self.documents), "")


def _can_take(parent: Plain, last: str) -> bool:
    if last == ITEM:
        return isinstance(parent, list)
    return isinstance(parent, dict) and last not in parent
