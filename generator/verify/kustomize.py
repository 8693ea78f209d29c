"""Building a sync unit as Argo CD does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from generator.verify.run import run
from generator.verify.tools import Tool


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why kustomize does not build a folder, in its own words, with paths relative to that folder."""

    message: str


def build(tool: Tool, folder: Path, *, timeout: float = 60.0) -> str | Refusal:
    """Return the objects of a folder as one YAML stream, or why kustomize refuses it.

    Nothing is fetched, and nothing outside the folder is read except through bases and components that it names.

    Args:
        tool: kustomize.
        folder: with a ``kustomization.yaml``.
        timeout: seconds.

    Raises:
        ToolError: kustomize crashed, hung or printed rubbish.
    """
    folder = folder.resolve()
    completed = run(tool.path, ["build", "."], timeout=timeout, cwd=folder, accept=(0, 1))
    if completed.code == 0:
        return completed.stdout
    message = completed.stderr.strip().removeprefix("Error: ")
    return Refusal(message.replace(f"{folder}/", "").replace(str(folder), "."))
