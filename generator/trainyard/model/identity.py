"""Recognise an object in two trees: its identity and its team."""

from __future__ import annotations

from typing import NamedTuple

from trainyard.model.manifest import Manifest


class Identity(NamedTuple):
    """The key by which the API server takes two objects for the same, in any file.

    A file that is not an object of the API server, such as a KubeletConfiguration, has its path as
    its name.
    """

    kind: str
    namespace: str
    name: str


def identity(manifest: Manifest) -> Identity:
    """Return the key that an object has in both trees."""
    name = manifest.name if "metadata" in manifest.body else manifest.path
    return Identity(manifest.body["kind"], manifest.namespace, name)


def team_of(manifest: Manifest) -> str:
    """Return the team in an object's label, whatever the label's domain was; empty for none."""
    labels: dict[str, str] = manifest.body["metadata"].get("labels", {})
    return labels.get(team_label_of(manifest), "")


def team_label_of(manifest: Manifest) -> str:
    """Return the key of an object's label with its team, e.g. ``ml.example.com/team``."""
    keys = (key for key in manifest.body["metadata"].get("labels", {}) if key.endswith("/team"))
    return next(keys, "")
