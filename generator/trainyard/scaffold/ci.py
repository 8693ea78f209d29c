"""The files that let a CI system check pull requests."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from itertools import accumulate
from pathlib import Path

from trainyard import __version__
from trainyard.diagnostics import TreeError
from trainyard.plainfile import holds
from trainyard.scaffold.install import put

_TEMPLATES = files("trainyard.scaffold") / "ci"
_COMMIT, _DIGEST = "[0-9a-f]{40}", "sha256:[0-9a-f]{64}"
_CLUSTER = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")
_PLAIN = re.compile(r"[A-Za-z0-9._/-]+")


@dataclass(frozen=True, slots=True)
class System:
    """A CI system.

    Args:
        files: path from the root of the Git repository -> template.
        beside: of these, those that belong to the user once they are there.
        origin: form of what pins Trainyard: an action's commit, or an image's digest.
        form: the same for people.
        placeholder: stands for it.
        facts: as `files`, of those that are written for clusters which are read.
    """

    files: Mapping[str, str]
    beside: frozenset[str]
    origin: re.Pattern[str]
    form: str
    placeholder: str
    facts: Mapping[str, str]


_IMAGE_FORM = "NAME@sha256:DIGEST"
_IMAGE = re.compile(rf"[a-z0-9]([a-z0-9._:/-]*[a-z0-9])?@{_DIGEST}")
_NO_IMAGE = (
    f"registry.example.com/trainyard@sha256:{'0' * 64} "
    "# placeholder: the image that you built from Trainyard's Containerfile"
)
SYSTEMS = {
    "github": System(
        {
            ".github/workflows/trainyard.yaml": "github/trainyard.yaml",
            ".github/workflows/trainyard-comment.yaml": "github/trainyard-comment.yaml",
        },
        frozenset(),
        re.compile(rf"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+@{_COMMIT}"),
        "OWNER/NAME@SHA",
        f"example-org/trainyard@{'0' * 40} # placeholder: repository and commit of your Trainyard",
        {".github/workflows/trainyard-facts.yaml": "github/trainyard-facts.yaml"},
    ),
    "gitlab": System(
        {
            ".gitlab/trainyard.yml": "gitlab/trainyard.yml",
            ".gitlab-ci.yml": "gitlab/gitlab-ci.yml",
        },
        frozenset({".gitlab-ci.yml"}),
        _IMAGE,
        _IMAGE_FORM,
        _NO_IMAGE,
        {".gitlab/trainyard-facts.yml": "gitlab/trainyard-facts.yml"},
    ),
    "tekton": System(
        {".tekton/trainyard.yaml": "tekton/trainyard.yaml"},
        frozenset(),
        _IMAGE,
        _IMAGE_FORM,
        _NO_IMAGE,
        {".tekton/trainyard-facts.yaml": "tekton/trainyard-facts.yaml"},
    ),
}


def ci_files(
    system: System, folder: str, branch: str, origin: str = "", clusters: Collection[str] = ()
) -> dict[str, bytes]:
    """Return the files of a CI system by path from the root of the Git repository.

    Args:
        system: the CI system.
        folder: of the platform, from that root; ``.`` for the root itself.
        branch: that Argo CD syncs.
        origin: what pins Trainyard; empty for a placeholder.
        clusters: that a runner at their site reads once a day.

    Raises:
        ValueError: a value has another form, so that it could mean something else in a template.
    """
    _check(system, {"folder": folder, "branch": branch}, origin, clusters)
    # The version beside a pinned commit is for people, and for tools that update it.
    pinned = f"{origin} # {__version__}" if origin else system.placeholder
    values = {
        "@VERSION@": __version__,
        "@FOLDER@": folder,
        "@BRANCH@": branch,
        "@TRAINYARD@": pinned,
        "@CLUSTERS@": json.dumps(list(dict.fromkeys(clusters))),
    }
    wanted = {**system.files, **(system.facts if clusters else {})}
    return {path: _filled(name, values) for path, name in wanted.items()}


def _check(
    system: System, paths: Mapping[str, str], origin: str, clusters: Collection[str]
) -> None:
    """Refuse what could mean something else in a template.

    Raises:
        ValueError: a value has another form.
    """
    for what, value in paths.items():
        if not _PLAIN.fullmatch(value):
            raise ValueError(
                f"the {what} `{value}` has other characters than letters, digits, `.`, `_`, `-`"
            )
    if origin and not system.origin.fullmatch(origin):
        raise ValueError(f"`--from {origin}` is not {system.form}")
    for cluster in clusters:
        if not _CLUSTER.fullmatch(cluster):
            raise ValueError(f"no cluster can have the name `{cluster}`")


def _filled(name: str, values: Mapping[str, str]) -> bytes:
    text = (_TEMPLATES / name).read_text(encoding="utf-8")
    for mark, value in values.items():
        text = text.replace(mark, value)
    return text.encode()


def missing(root: Path, wanted: Mapping[str, bytes], beside: Iterable[str]) -> dict[str, bytes]:
    """Return the files that are not there yet.

    Args:
        root: folder that the paths start from.
        wanted: content by path.
        beside: paths of files that may be there with any content.

    Raises:
        TreeError: another file is there with other content; it is never overwritten.
    """
    new = {}
    for path, content in wanted.items():
        place = root / path
        if not place.exists() and not place.is_symlink():
            new[path] = content
        elif path not in beside and not holds(place, content):
            raise TreeError(
                f"{place} is there already, and differs; to replace it, remove it and run the "
                "command again"
            )
    return new


def write_ci(root: Path, new: Mapping[str, bytes]) -> None:
    """Write new files, all or none.

    Raises:
        TreeError: a file is there already, or can't be written.
    """
    if new:
        put(root, new, tops(root, new))


def tops(root: Path, paths: Iterable[str]) -> tuple[str, ...]:
    """Return what is new at or above each path: the outermost part that is not there yet."""
    outermost: dict[str, None] = {}
    for path in paths:
        heads = accumulate(Path(path).parts, posixpath.join)
        outermost[next(head for head in heads if not (root / head).exists())] = None
    return tuple(outermost)
