"""Profiles of this repository with one text in many places."""

from __future__ import annotations

import copy
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from tests.changes.documents import Documents, files_of, places
from tests.changes.keys import Key, keys, schema_of
from tests.fuzz.corpus import SEEDS
from tests.hostile.texts import HOSTILE
from trainyard.diagnostics import has_errors
from trainyard.generation.generate import check
from trainyard.schema.profiles import profile_kinds
from trainyard.yaml_io.emitter import emit

_ROOT = Path(__file__).resolve().parents[2] / "profiles"
_NAMES = {"cluster.release"}
"""Keys that take a name, although their schema has no pattern."""

_COMMITTED: Documents = {seed.path: seed.body for seed in SEEDS if seed.root == _ROOT and seed.body}
_SCIENCE = _COMMITTED["teams/science.yaml"]

_LAB = _COMMITTED["clusters/lab.yaml"]
_ADOPTION = {"pods": "warn", "until": "2099-12-31", "reason": "Why"}
_STAGE = {"stage": "warn", "until": "2099-12-31", "reason": "Why"}
_WAIVERS = _COMMITTED["waivers.yaml"]["waivers"]
_REPAIR = {"nodes": ["cpu-07"], "until": "2099-12-31", "reason": "Why"}

BASE: Documents = {
    **_COMMITTED,
    "clusters/lab.yaml": {
        **_LAB,
        "pools": {**_LAB["pools"], "cpu": {**_LAB["pools"]["cpu"], "maintenance": [_REPAIR]}},
    },
    "clusters/prod-east.yaml": {**_COMMITTED["clusters/prod-east.yaml"], "adopt": _ADOPTION},
    "waivers.yaml": {"waivers": [*_WAIVERS, {**_WAIVERS[0], "at": "What"}]},
    "teams/science.yaml": {
        **_SCIENCE,
        "adopt": _STAGE,
        "quota": {
            **_SCIENCE["quota"],
            "lab": {"cpu": {"nodes": 6, "until": "2027-01-31", "reason": "Why"}},
        },
    },
    "hardware/described.yaml": {
        "extends": "nvidia-dgx-h100",
        "description": "What",
        "sources": {"cpu": "Where"},
        "system": {"cpu": 16, "memory": "96Gi"},
    },
}
"""This repository's profiles, with the fields that they lack."""

STRINGS = tuple(key for key in keys() if schema_of(key).get("type") == "string")
FREE = tuple(
    key
    for key in STRINGS
    if not {"pattern", "enum"} & schema_of(key).keys() and str(key) not in _NAMES
)
"""Keys that take any text."""


def where(key: Key) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    """Yield file and path of each value of a key."""
    for file in files_of(key.kind, BASE):
        yield from ((file, place) for place in places(BASE[file], key.steps))


def filled(texts: Mapping[Key, str]) -> Documents:
    """Return the profiles with a text as the value of each of some keys."""
    changed = copy.deepcopy(dict(BASE))
    for key, text in texts.items():
        for file, place in where(key):
            _container(changed[file], place)[place[-1]] = text
    return changed


def extended(text: str) -> Documents:
    """Return the profiles with a text as a key of each mapping that is a profile or in it."""
    changed = copy.deepcopy(dict(BASE))
    for value in changed.values():
        for mapping in [value, *(each for each in value.values() if isinstance(each, dict))]:
            mapping[text] = text
    return changed


def _container(value: Any, place: tuple[str | int, ...]) -> Any:
    for step in place[:-1]:
        value = value[step]
    return value


def free(text: str) -> dict[str, bytes]:
    """Return files in which a text is each value that takes any."""
    return mixed([text])


def mixed(texts: Sequence[str]) -> dict[str, bytes]:
    """Return files in which each value that takes any text is one of some texts, in turn."""
    turns = {key: texts[number % len(texts)].ljust(10, ".") for number, key in enumerate(FREE)}
    return _emitted(filled(turns))


def anywhere(text: str) -> dict[str, bytes]:
    """Return files in which a text is each string value."""
    return _emitted(filled(dict.fromkeys(STRINGS, text)))


def as_keys(text: str) -> dict[str, bytes]:
    """Return files in which a text is a key that no profile has."""
    return _emitted(extended(text[:900]))


def raw(text: str) -> dict[str, bytes]:
    """Return files of which each begins with a text, whatever that is in YAML."""
    return {
        file: text.encode("utf-8", "surrogatepass") + b"\n" + emit(value)
        for file, value in BASE.items()
    }


def as_names(text: str) -> dict[str, bytes]:
    """Return files of which one in each folder has a text as its name."""
    name = text.replace("/", "").replace("\0", "")[:60] or "x"
    named = {
        f"{Path(files_of(kind, BASE)[0]).parent.as_posix()}/{name}.yaml": emit({"contact": "x"})
        for kind in profile_kinds()
        if files_of(kind, BASE)
    }
    return {**_emitted(BASE), **named}


VARIANTS: Mapping[str, Callable[[str], dict[str, bytes]]] = {
    each.__name__: each for each in (free, anywhere, as_keys, raw, as_names)
}
"""Ways in which a text gets into profiles."""


def _emitted(documents: Documents) -> dict[str, bytes]:
    return {file: emit(value) for file, value in documents.items()}


@contextmanager
def written(files: Mapping[str, bytes]) -> Iterator[Path]:
    """Yield a folder with profiles, components included."""
    with tempfile.TemporaryDirectory(prefix="trainyard-hostile-") as folder:
        root = Path(folder) / "profiles"
        shutil.copytree(_ROOT / "components", root / "components")
        for file, content in files.items():
            path = root / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        yield root


@cache
def accepted() -> tuple[str, ...]:
    """Return the hostile texts that the schemas accept everywhere."""
    return tuple(filter(_is_accepted, HOSTILE))


def _is_accepted(text: str) -> bool:
    with written(free(text)) as root:
        return not has_errors(check(root).diagnostics)
