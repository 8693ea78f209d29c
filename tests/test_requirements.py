"""The lock files: what the action installs is what was tested."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_PIN = re.compile(r"^([a-z0-9._-]+)==(\S+) \\$", re.MULTILINE)


def pins(name: str) -> set[tuple[str, str]]:
    return set(_PIN.findall((ROOT / "requirements" / name).read_text("utf-8")))


def test_what_is_installed_is_what_was_tested() -> None:
    """`make lock` writes both files from the same versions."""
    assert pins("run.txt") < pins("dev.txt")


def test_every_library_is_pinned() -> None:
    """The action installs Trainyard without looking up what it depends on."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wanted = {
        "run.txt": project["project"]["dependencies"] + project["build-system"]["requires"],
        "dev.txt": project["dependency-groups"]["dev"],
    }
    for file, libraries in wanted.items():
        names = {re.split(r"[<>=]", each)[0].lower().replace(".", "-") for each in libraries}
        assert names <= {name for name, _ in pins(file)}
