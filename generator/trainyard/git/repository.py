"""Run Git so that nothing is executed that the repository, its commits or the user configured.

``rev-parse``, ``merge-base``, ``ls-tree -z``, ``ls-files --stage``, ``cat-file --batch`` and
``merge-file`` run no hook, filter, driver or pager. All others are refused here by not being there.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from trainyard.diagnostics import ToolError
from trainyard.programs import find, read_from

_TIMEOUT = 60.0
"""Seconds; 36,000 objects take less than one."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A Git repository.

    Args:
        root: of its work tree.
    """

    root: Path

    def read(self, *arguments: str, stdin: bytes = b"", accept: Collection[int] = (0,)) -> bytes:
        """Return what a subcommand prints.

        Args:
            arguments: the subcommand, its options, and what the caller has checked.
            stdin: what it reads.
            accept: exit codes that are an answer.

        Raises:
            ToolError: Git is missing, fails or hangs.
        """
        command: list[str | Path] = [_program(), *_settings(self.root), *arguments]
        return read_from(
            command, timeout=_TIMEOUT, environment=_environment(), stdin=stdin, accept=accept
        )


def _program() -> Path:
    program = find("git")
    if program is None:
        raise ToolError("`git` is missing: install it, so that commits can be read")
    return program


def _settings(root: Path) -> Iterable[str]:
    """Return options that hold whatever is configured.

    The user of a container is often not the owner of the work tree; what Git protects from by
    refusing it, programs that a foreign repository configures, is not run here.
    """
    return (
        "-C",
        str(root),
        "-c",
        f"safe.directory={root}",
        "-c",
        "safe.bareRepository=explicit",
        "-c",
        "core.fsmonitor=false",
        "-c",
        "merge.conflictStyle=merge",
    )


def _environment() -> dict[str, str]:
    """Return the variables of Git's processes; none of the caller's that changes what is read."""
    home = {"HOME": os.environ["HOME"]} if "HOME" in os.environ else {}
    return {
        **home,
        "PATH": os.environ.get("PATH", os.defpath),
        "LC_ALL": "C",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
    }
