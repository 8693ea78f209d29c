"""Views of the model."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from trainyard.render.attributes import VIEWS, View

ROOT = Path(__file__).parents[2]
READERS = [
    *(ROOT / "templates").rglob("*.j2"),
    *(ROOT / "generator" / "trainyard" / "render").rglob("*.py"),
]


def properties(view: View) -> set[str]:
    """Return the names of a view's properties."""
    return {name for name, value in vars(view).items() if isinstance(value, property)}


@pytest.mark.parametrize("model", VIEWS, ids=lambda model: model.__name__)
def test_view_has_no_attribute_of_its_model(model: type) -> None:
    """A template would read the view's value, and everything else the model's."""
    own = {name for name in vars(model) if not name.startswith("_")}

    assert properties(VIEWS[model]) & own == set()


def test_each_property_of_a_view_is_read() -> None:
    """A template or a view asks for it."""
    read = {name for file in READERS for name in re.findall(r"\.(\w+)", file.read_text("utf-8"))}

    for view in VIEWS.values():
        assert properties(view) <= read
