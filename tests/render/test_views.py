"""Views of the model."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from trainyard.generation.generate import generate
from trainyard.render.attributes import VIEWS, View
from trainyard.render.views.site import SiteView

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


@pytest.mark.parametrize("cluster", ["lab", "prod-east"])
def test_store_entries_are_what_the_secrets_of_the_tree_ask_for(cluster: str) -> None:
    """The README's table is compared with the objects: store, entry, properties and namespaces."""
    generation = generate(ROOT / "profiles", "../profiles/components", [cluster])
    assert generation.checked.platform is not None
    (site,) = (each for each in generation.checked.platform.sites if each.name == cluster)
    asked: dict[tuple[str, str], set[tuple[str, ...]]] = {}
    for manifest in generation.manifests[cluster]:
        if manifest.kind.name == "ExternalSecret":
            asked.setdefault(_entry(manifest.body["spec"]), set()).add(
                (manifest.namespace, *_properties(manifest.body["spec"]))
            )

    listed = {
        (entry.store, entry.key): {(name, *entry.properties) for name in namespaces}
        for entry, namespaces in SiteView(site).store_entries.items()
    }
    assert listed == asked
    assert len(listed) >= 3


def _entry(spec: dict[str, Any]) -> tuple[str, str]:
    one = spec["data"][0]["remoteRef"] if spec["data"] else spec["dataFrom"][0]["extract"]
    return spec["secretStoreRef"]["name"], one["key"]


def _properties(spec: dict[str, Any]) -> list[str]:
    """Return the properties that a Secret is made of; a template names them as variables."""
    if spec["data"]:
        return [each["remoteRef"]["property"] for each in spec["data"]]
    return sorted(set(re.findall(r"{{ \.(\w+) }}", str(spec["target"]["template"]["data"]))))
