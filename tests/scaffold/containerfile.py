"""Does what a Containerfile says, without a container: its absolute paths are below a folder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

_OWN = ("/opt/",)
"""What an image gets from us; all other paths are those of its base, here of this machine."""


@dataclass
class Image:
    """What has been done so far.

    Args:
        context: folder that files are copied from.
        root: stands for `/`.
        arguments: values of `ARG`, by name.
        variables: of the environment of the stage.
        stages: root of each stage that is done, by name.
        user: who runs the image.
    """

    context: Path
    root: Path
    arguments: dict[str, str]
    variables: dict[str, str] = field(default_factory=dict)
    stages: dict[str, Path] = field(default_factory=dict)
    user: str = ""
    _folder: str = "/"
    _stage: str = ""

    def build(self, text: str) -> None:
        """Do all instructions; one that is not known here is an error."""
        joined = re.sub(r"\\\n\s*", " ", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE))
        for line in filter(None, map(str.strip, joined.splitlines())):
            word, _, rest = line.partition(" ")
            getattr(self, f"_{word.lower()}")(rest)

    def environment(self) -> dict[str, str]:
        """Return the variables of a process: those of the base and of the image."""
        base = {key: os.environ[key] for key in os.environ if key != "PYTHONPATH"}
        system = str(self.root / "gitconfig")
        return {**base, "GIT_CONFIG_SYSTEM": system, **self.arguments, **self.variables}

    def _from(self, rest: str) -> None:
        _, _, name = rest.partition(" AS ")
        if self._stage:
            kept = self.root.with_name(self._stage)
            self.root.rename(kept)
            self.stages[self._stage] = kept
        self.root.mkdir()
        self._stage, self._folder = name, "/"
        self.variables = {}

    def _arg(self, rest: str) -> None:
        assert "=" in rest or rest in {"PIP_INDEX_URL", "GOPROXY", "GOSUMDB"}

    def _user(self, rest: str) -> None:
        self.user = rest

    def _workdir(self, rest: str) -> None:
        self._folder = rest
        self._path(".").mkdir(parents=True, exist_ok=True)

    def _env(self, rest: str) -> None:
        for pair in rest.split():
            key, _, value = pair.partition("=")
            value = value.replace("${PATH}", self.variables.get("PATH", os.environ["PATH"]))
            self.variables[key] = self._here(value)

    def _copy(self, rest: str) -> None:
        *words, target = rest.split()
        stage = words.pop(0).removeprefix("--from=") if words[0].startswith("--from=") else ""
        for word in words:
            source = self.stages[stage] / word.lstrip("/") if stage else self.context / word
            place = self._path(target)
            if source.is_dir():
                shutil.copytree(source, place, symlinks=True, dirs_exist_ok=True)
            else:
                shutil.copy(source, place)

    def _run(self, rest: str) -> None:
        script = self._here(rest)
        self._path(".").mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ["sh", "-c", script], cwd=self._path("."), env=self.environment(), check=True
        )

    def _path(self, name: str) -> Path:
        return self.root / (Path(self._folder) / name).as_posix().lstrip("/")

    def _here(self, text: str) -> str:
        for own in _OWN:
            text = re.sub(rf"(?<![\w/]){own}", f"{self.root}{own}", text)
        return text
