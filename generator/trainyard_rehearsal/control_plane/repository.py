"""A bare Git repository from which Argo CD takes a tree."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from trainyard import programs
from trainyard.diagnostics import ToolError


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository and the working tree for its commits.

    Args:
        folder: folder of both.
        branch: its only branch.
    """

    folder: Path
    branch: str

    @property
    def address(self) -> str:
        """URL from which Argo CD fetches it."""
        return (self.folder / "platform.git").as_uri()

    def create(self) -> None:
        """Create the empty repository.

        Raises:
            ToolError: Git is not installed.
        """
        self._work.mkdir(parents=True)
        self._git(
            "init", "--bare", f"--initial-branch={self.branch}", str(self.folder / "platform.git")
        )
        self._git("init", f"--initial-branch={self.branch}")

    def commit(self, files: Mapping[str, bytes | None]) -> str:
        """Write files, or delete those without content, then commit and push.

        Args:
            files: content by path; None to delete the file.

        Returns:
            The revision.

        Raises:
            ToolError: Git fails.
        """
        for name, content in files.items():
            path = self._work / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        self._git("add", "--all")
        self._git("commit", "--quiet", "--message", "A rehearsal")
        self._git("push", "--quiet", self.address, self.branch)
        return self._git("rev-parse", "HEAD").strip()

    @property
    def _work(self) -> Path:
        return self.folder / "work"

    def _git(self, *arguments: str) -> str:
        who = {
            f"GIT_{who}_{what}": "rehearsal"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
        }
        try:
            done = programs.run(
                ("git", *arguments),
                cwd=self._work,
                environment=environment | who,
                timeout=programs.AN_HOUR,
            )
        except programs.NotStartedError:
            raise ToolError("Argo CD takes the tree from Git: install `git`") from None
        return done.stdout
