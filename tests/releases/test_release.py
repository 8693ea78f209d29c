"""The shipped releases: every word of their files is one that the code asks for."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
import yaml

from trainyard.model.ipam import IPAMS
from trainyard.profiles.read import PACKAGE, plurals, releases
from trainyard.render.catalog import CATALOG
from trainyard.render.folder import templates_folder
from trainyard.resolve.release import resolve_release

RELEASES = sorted(releases())
_ASKED = re.compile(r'"([a-z-]+)" in (?:[a-z]+\.)*features')


class Asked(dict[str, Any]):
    """A mapping that remembers which of its keys somebody wanted."""

    def __init__(self, fields: dict[str, Any]) -> None:
        super().__init__(fields)
        self.wanted: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        self.wanted.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self.wanted.add(key)
        return super().get(key, default)


@pytest.mark.parametrize("name", RELEASES)
def test_every_field_is_asked_for(name: str) -> None:
    """A field with a slip in its name would be passed over in silence."""
    told = releases()[name]
    fields = Asked(told.value)
    resolve_release(name, replace(told, value=fields), plurals()[name])

    assert fields.keys() <= fields.wanted


@pytest.mark.parametrize("name", RELEASES)
def test_each_release_says_itself_how_far_it_was_tried(name: str) -> None:
    """That of another release is not evidence."""
    stated = yaml.safe_load(releases()[name].content)
    assert stated["tested"] in {"rehearsed", "schemas"}


@pytest.mark.parametrize("name", RELEASES)
def test_every_feature_and_plugin_is_known(name: str) -> None:
    """So would a feature that no template and no line of code asks for."""
    files = [*PACKAGE.rglob("*.py"), *templates_folder().rglob("*.j2")]
    asked = {word for file in files for word in _ASKED.findall(file.read_text(encoding="utf-8"))}
    told = releases()[name].value

    assert set(told["features"]) <= asked | {entry.feature for entry in CATALOG}
    assert told["ipam"]["plugin"] in IPAMS
