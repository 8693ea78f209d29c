"""Write a result to a file that the user names, and to nothing that a commit depends on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from trainyard.diagnostics import TreeError
from trainyard.plainfile import write_named

_GIT = ".git"


def save(file: Path, content: bytes) -> None:
    """Write a file, or replace it.

    Raises:
        click.UsageError: it is a profile, a file of the tree or of Git.
        TreeError: it is a symlink or behind one, or can't be written.
    """
    need_free(file)
    try:
        write_named(file, content)
    except OSError as problem:
        raise TreeError(f"{file} can't be written: {problem.strerror}") from problem


def need_free(file: Path) -> None:
    """Refuse a file that is a profile, of the tree or of Git.

    Raises:
        click.UsageError: it is.
    """
    for owner in _owners(file.parent.resolve() / file.name):
        raise click.UsageError(f"`{file}` is {owner}: name another file for what is printed")


def _owners(place: Path) -> Iterator[str]:
    """Yield in which folder of profiles, tree or repository a file is."""
    profiles, tree = _folders()
    if profiles in place.parents:
        yield "in the folder of the profiles"
    # A page may be at the top of the tree, which no sync unit reads.
    if tree in place.parent.parents:
        yield "in the tree"
    if any(map(_is_of_git, (place, *place.parents))):
        yield "in a repository of Git"


def _folders() -> tuple[Path, Path]:
    """Return the folders of the profiles and of the tree, as the command was given them."""
    context = click.get_current_context(silent=True)
    given = context.params if context else {}
    profiles, tree = (
        given.get(name) or Path(default)
        for name, default in (("profiles", "profiles"), ("output", "overlays"))
    )
    return profiles.resolve(), tree.resolve()


def _is_of_git(path: Path) -> bool:
    """Return whether a path is Git's own, as those of bare clones and work trees are."""
    has_refs = (path / "refs").is_dir() or (path / "commondir").is_file()
    return path.name.lower() == _GIT or (has_refs and (path / "HEAD").is_file())
