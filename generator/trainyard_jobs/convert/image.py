"""Names of images: what two of them have in common."""

from __future__ import annotations

import re

from trainyard_jobs.convert.names import plain

_HUB = "docker.io"
_TAG = re.compile(r":[A-Za-z0-9_][A-Za-z0-9_.-]*\Z")
_LONGEST = 40
_REFERENCE = re.compile(
    r"(?:[A-Za-z0-9][A-Za-z0-9.-]*(?::[0-9]+)?/)?"
    r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*"
    r"(?::\w[\w.-]{0,127})?(?:@[A-Za-z0-9+._-]+:[0-9a-fA-F]{32,})?",
    re.ASCII,
)


def is_reference(image: str) -> bool:
    """Return whether a text is the name of an image, and not a variable of a template.

    Source: distribution/reference:reference.go.
    """
    return _REFERENCE.fullmatch(image) is not None


def full(image: str) -> str:
    """Return an image with its registry: without one it is Docker Hub's.

    Source: distribution/reference:normalize.go.
    """
    first, slash, _ = image.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        return image
    return f"{_HUB}/{image}" if slash else f"{_HUB}/library/{image}"


def repository(image: str) -> str:
    """Return the repository of an image, without tag and digest; empty for no image."""
    return _TAG.sub("", full(image).partition("@")[0]) if image else ""


def profile_name(image: str) -> str:
    """Return a name for the profile of a runtime with an image: the last part of its name."""
    return plain(repository(image).rpartition("/")[2], _LONGEST) or "converted"
