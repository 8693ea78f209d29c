"""A bare Git repository that Argo CD takes a tree from."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from trainyard.diagnostics import ToolError


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository and the working tree that its commits are made in.

    Args:
        folder: holds both.
        branch: the only one.
    """

    folder: Path
    branch: str

    @property
    def address(self) -> str:
        """Where Argo CD fetches it."""
        return (self.folder / "platform.git").as_uri()

    def create(self) -> None:
        """Make it, empty.

        Raises:
            ToolError: there is no Git.
        """
        self._work.mkdir(parents=True)
        self._git(
            "init", "--bare", f"--initial-branch={self.branch}", str(self.folder / "platform.git")
        )
        self._git("init", f"--initial-branch={self.branch}")

    def commit(self, files: Mapping[str, bytes | None]) -> str:
        """Write files, or remove those without content, and publish that.

        Args:
            files: content by path.

        Returns:
            The revision.

        Raises:
            ToolError: Git refuses.
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
        command = ("git", "-c", "commit.gpgsign=false", *arguments)
        try:
            done = subprocess.run(
                command,
                cwd=self._work,
                env=environment | who,
                capture_output=True,
                text=True,
                encoding="utf-8",
                check=True,
            )
        except FileNotFoundError:
            raise ToolError("Argo CD takes the tree from Git: install `git`") from None
        except subprocess.CalledProcessError as error:
            raise ToolError(f"`git {arguments[0]}` failed: {str(error.stderr).strip()}") from None
        return done.stdout
