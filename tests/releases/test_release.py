"""The shipped releases: every word of their files is one that the code asks for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from trainyard.model.ipam import IPAMS
from trainyard.profiles.read import PACKAGE
from trainyard.render.catalog import CATALOG
from trainyard.render.folder import templates_folder
from trainyard.resolve.release import resolve_release
from trainyard.yaml_io.reader import read
from trainyard.yaml_io.source import Source

RELEASES = sorted(PACKAGE.glob("releases/*/release.yaml"))
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


def source(path: Path) -> Source:
    return read(path.parent.name, path.read_bytes())[0]


@pytest.mark.parametrize("path", RELEASES, ids=lambda path: path.parent.name)
def test_every_field_is_asked_for(path: Path) -> None:
    """A field with a slip in its name would be passed over in silence."""
    told = source(path)
    fields = Asked(told.value)
    plurals = source(path.with_name("plurals.yaml"))
    resolve_release(path.parent.name, Source(told.file, told.content, fields), plurals)

    assert fields.keys() <= fields.wanted


@pytest.mark.parametrize("path", RELEASES, ids=lambda path: path.parent.name)
def test_every_feature_and_plugin_is_known(path: Path) -> None:
    """So would a feature that no template and no line of code asks for."""
    files = [*PACKAGE.rglob("*.py"), *templates_folder().rglob("*.j2")]
    asked = {word for file in files for word in _ASKED.findall(file.read_text(encoding="utf-8"))}
    told = source(path).value

    assert set(told["features"]) <= asked | {entry.feature for entry in CATALOG}
    assert told["ipam"]["plugin"] in IPAMS
