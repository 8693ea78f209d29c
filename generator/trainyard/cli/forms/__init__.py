"""Findings in the forms of CI systems: one module for each form, loaded when the form is wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from trainyard.cli import document
from trainyard.cli.findings import Findings
from trainyard.git.worktree import path_in_work_tree

_LOADED = ("sarif", "junit", "github", "gitlab", "markdown")
MODULES = {"json": document.__name__} | {form: f"{__name__}.{form}" for form in _LOADED}
"""The module of each form; its first sentence is shown in the reference."""
_HOSTS = frozenset(("sarif", "github", "gitlab"))
"""Forms that a Git host reads, for which a path begins at the root of the repository."""
FORMS = tuple(MODULES)
"""Forms of every command that reports findings, besides text."""


def forms_of(command: str, found: Findings, **besides: Any) -> Mapping[str, Callable[[], str]]:
    """Return what writes the findings of a command, by form.

    Args:
        command: its name.
        found: the findings, which every form has.
        besides: what the command did besides, which only JSON has; the JSON of a command without it
            has the format ``findings``.
    """
    return {
        "json": partial(document.report, command if besides else "findings", found, **besides),
        **{form: partial(_report, form, command, found) for form in _LOADED},
    }


def _report(form: str, command: str, found: Findings) -> str:
    report: Callable[[str, Findings], str] = import_module(MODULES[form]).report
    return report(command, _from_root(found) if form in _HOSTS else found)


def _from_root(found: Findings) -> Findings:
    """Return the findings with paths from the root of the Git repository, as hosts take them."""
    folders = {}
    for top, folder in found.places.folders.items():
        folders[top] = path_in_work_tree(Path(folder)) or folder
    return replace(found, places=replace(found.places, folders=folders))
