"""Patterns and their owners in the order that CODEOWNERS needs: the last match wins.

Sources: GitHub Docs, "About code owners" (last match, one rule a file, unsupported syntax) and
GitLab Docs, "Code Owners syntax and error handling". The patterns use only what both read alike:
a leading slash, a trailing slash for a folder, and ``*`` inside one level.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.model.owners import Owners
from trainyard.model.platform import Platform

_UNSAFE = re.compile(r"[^\w./~+@,=-]+")
"""Characters of a path that mean something else in a pattern, or end it; no host has an escape for
all of them."""
_KINDS = ("hardware", "compliance", "runtimes", "components")
"""Folders of profiles that may have owners of their own, beside clusters and teams."""
_CI = (
    ".github/",
    ".gitlab/",
    ".gitlab-ci.yml",
    ".tekton/",
    ".gitattributes",
    ".gitmodules",
    ".pre-commit-config.yaml",
)
"""Configuration of the hosts, of CI, and of Git: a merge driver, a submodule, a hook."""
PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")
"""Where GitHub and GitLab look for the file. GitHub reads the first of the first three, and GitLab
the first of the last three: a new file there replaces the one that is read."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Paths from the root of the Git repository, with forward slashes.

    Args:
        profiles: folder of the profiles.
        tree: folder of the generated tree.
        file: CODEOWNERS itself.
    """

    profiles: str
    tree: str
    file: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A pattern and its owners, of whom any one may approve."""

    pattern: str
    owners: tuple[str, ...]


def entries(platform: Platform, layout: Layout) -> Iterator[Entry]:
    """Yield the entries with owners: general ones first, then special ones, guards last."""
    owners = platform.settings.owners
    safe = Layout(*(_UNSAFE.sub("*", path) for path in (layout.profiles, layout.tree, layout.file)))
    ordered = (
        *_general(owners, safe),
        *_clusters(owners, safe),
        *_teams(platform, safe),
        *_guards(owners, safe),
    )
    for path, own in ordered:
        if own:
            yield Entry(f"/{path}", own)


_Owned = tuple[str, tuple[str, ...]]


def _general(owners: Owners, layout: Layout) -> Iterator[_Owned]:
    yield f"{layout.profiles}/", owners.platform
    yield f"{layout.tree}/", owners.platform
    for kind in _KINDS:
        yield f"{layout.profiles}/{kind}/", owners.kinds.get(kind, ())


def _clusters(owners: Owners, layout: Layout) -> Iterator[_Owned]:
    for cluster, own in owners.clusters.items():
        yield f"{layout.profiles}/clusters/{cluster}.yaml", own
        yield f"{layout.tree}/{cluster}/", own


def _teams(platform: Platform, layout: Layout) -> Iterator[_Owned]:
    for team in platform.teams:
        yield f"{layout.profiles}/teams/{team.name}.yaml", team.owners
        yield f"{layout.tree}/*/teams/{team.name}/", team.owners


def _guards(owners: Owners, layout: Layout) -> Iterator[_Owned]:
    """Yield what decides about everybody; no entry of a cluster or team comes after it."""
    yield f"{layout.profiles}/trainyard.yaml", owners.platform
    yield f"{layout.profiles}/allocations.yaml", owners.of_kind("allocations")
    yield f"{layout.profiles}/waivers.yaml", owners.of_kind("waivers")
    yield f"{layout.tree}/*/trainyard.lock", owners.platform
    for path in _CI:
        yield path, owners.of_kind("workflows")
    # It changes with each change of owners, which a team or the owners of CI must not decide alone.
    for path in dict.fromkeys((*PLACES, layout.file)):
        yield path, owners.platform
