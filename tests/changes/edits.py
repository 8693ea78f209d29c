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
"""Share of edits that make a new entry of a mapping for a key, rather than put it into one that is
there."""


class Action(StrEnum):
    """What an edit does to its key."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit of one profile.

    Args:
        key: what was edited.
        action: how.
        file: path of the profile below ``profiles/``.
        before, after: the profile as plain data; None where there is none.
    """

    key: Key
    action: Action
    file: str
    before: Plain
    after: Plain


def edit(documents: Documents, key: Key, action: Action, order: random.Random) -> Edit | None:
    """Return a random edit of a key; None when there is no profile where this can be done.

    Args:
        documents: the profiles.
        key: what to edit.
        action: what to do to it.
        order: what chooses.
    """
    editor = _Editor(documents, key, order)
    chosen = (
        editor.profile(action)
        if not key.steps
        else editor.add()
        if action is Action.ADDED
        else editor.touch(action)
    )
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

    def profile(self, action: Action) -> tuple[str, Plain] | None:
        """Add, change or remove a whole profile."""
        if action is Action.ADDED:
            free = self._free_file()
            return (free, self._root()) if free else None
        if not self.files:
            return None
        file = self.order.choice(self.files)
        return file, None if action is Action.REMOVED else self.values.other(
            self.key, self.documents[file]
        )

    def touch(self, action: Action) -> tuple[str, Plain] | None:
        """Change or remove a key where it is."""
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
        """Add a key, and what it stands in where that is not there either."""
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
        """Return what is one step below, made when it is not there."""
        key, wanted = seen / step, self.key.steps[len(seen.steps) + 1 :]
        inside = list(places(value, (step,)))
        if not inside or (step == NAME and wanted and self.order.random() < _ANOTHER):
            self._make(file, value, key, wanted[0] if wanted else "")
            inside = [place for place in places(value, (step,)) if place not in inside]
        (last,) = self.order.choice(inside)
        if wanted and not isinstance(value[last], list if wanted[0] == ITEM else dict):
            value[last] = [] if wanted[0] == ITEM else self.values.mapping(key, wanted[0])
        return value[last]

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
        """Put a value for a key into the mapping or list that it belongs to."""
        if key.steps[-1] == ITEM:
            parent.append(value)
        elif key.steps[-1] == NAME:
            parent[self.values.name(key, parent)] = value
        else:
            parent[key.steps[-1]] = value

    def _inherited(self, file: str, key: Key) -> Plain:
        """Return what a hardware profile has of the preset that it extends, to be changed there."""
        preset = (self.documents.get(file) or {}).get("extends", "")
        shipped = PACKAGE / "presets" / f"{preset}.yaml"
        if key.kind != "hardware" or len(key.steps) != 1 or not shipped.is_file():
            return None
        source, _ = read(shipped.name, shipped.read_bytes())
        return copy.deepcopy(source.value.get(key.steps[0]))

    def _root(self) -> Plain:
        """Return a new profile: more often a copy of another, as people make them, than one from
        nothing."""
        if self.files and self.order.random() < 0.7:
            return copy.deepcopy(self.documents[self.order.choice(self.files)])
        return self.values.new(Key(self.key.kind))

    def _free_file(self) -> str:
        folder = folder_of(self.key.kind)
        if not folder:
            return "" if self.files else f"{self.key.kind}.yaml"
        name = "kustomization.yaml" if self.key.kind == "component" else ""
        free = (
            f"{folder}/{each}/{name}" if name else f"{folder}/{each}.yaml"
            for each in ("extra", "spare", "third")
        )
        return next((file for file in free if file not in self.documents), "")


def _can_take(parent: Plain, last: str) -> bool:
    if last == ITEM:
        return isinstance(parent, list)
    return isinstance(parent, dict) and last not in parent
