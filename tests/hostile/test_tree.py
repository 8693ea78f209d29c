"""The tree has the same objects, whatever the text of a profile."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from tests.cli.forms import readers
from tests.hostile.fields import FREE, accepted, free, where, written
from tests.hostile.texts import HOSTILE, named
from trainyard.diagnostics import has_errors
from trainyard.generation.generate import Generation, generate
from trainyard.yaml_io.manifests import parse_manifests

PLAIN = "plain text"
TODAY = "2026-11-22"


def _generated(text: str) -> Generation:
    with written(free(text)) as root:
        return generate(root, "../profiles/components", (), TODAY)


@cache
def _plain() -> Generation:
    return _generated(PLAIN)


@pytest.mark.parametrize("key", FREE, ids=str)
def test_each_field_of_free_text_is_filled(key: Any) -> None:
    """A new field of a schema is tried out too."""
    assert list(where(key))


@pytest.mark.thorough
def test_most_hostile_text_is_accepted() -> None:
    """Otherwise the tests below would compare nothing."""
    assert len(accepted()) > len(HOSTILE) / 2


@pytest.mark.thorough
@pytest.mark.parametrize("text", HOSTILE, ids=named)
def test_text_is_refused_or_changes_nothing_but_itself(text: str) -> None:
    """Each object, and each page, is the one that it is with plain text."""
    made, plain = _generated(text), _plain()
    if has_errors(made.diagnostics):
        assert not made.files
        assert {each.rule.partition("/")[0] for each in made.diagnostics} <= {"shape"}
        return

    assert made.files.keys() == plain.files.keys()
    assert [each.rule for each in made.diagnostics] == [each.rule for each in plain.diagnostics]
    for file, content in made.files.items():
        if content != plain.files[file] and not file.endswith("trainyard.lock"):
            assert _means_the_same(file, content, plain.files[file], text), file


def _means_the_same(file: str, made: bytes, plain: bytes, text: str) -> bool:
    if file.endswith(".md"):
        return _blocks(made) == _blocks(plain)
    return _same(parse_manifests(made.decode()), parse_manifests(plain.decode()), text)


def _blocks(page: bytes) -> list[str]:
    tokens = readers.markdown(page.decode())
    return [
        *(token.type for token in tokens),
        *(
            each.type
            for token in tokens
            for each in token.children or ()
            if not each.type.startswith("text")
        ),
    ]


def _same(made: Any, plain: Any, text: str) -> bool:
    """Return whether plain data is equal but for the text in the place of the plain one."""
    if isinstance(plain, Mapping):
        return made.keys() == plain.keys() and all(
            _same(made[key], plain[key], text) for key in plain
        )
    if isinstance(plain, list | tuple):
        return len(made) == len(plain) and all(
            _same(each, other, text) for each, other in zip(made, plain, strict=True)
        )
    if made == plain or PLAIN not in str(plain):
        return bool(made == plain)
    value = text.ljust(10, ".")
    # kubelet reads `$$` of a variable as `$`.
    return made == plain.replace(PLAIN, value) or shlex.split(made.replace("$$", "$")) == [
        word.replace(PLAIN, value) for word in shlex.split(plain)
    ]
