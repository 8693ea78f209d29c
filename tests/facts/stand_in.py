"""A stand-in for kubectl: answers from a file, and notes each call."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

_PROGRAM = """\
#!{python}
import json, sys
from pathlib import Path

with Path({calls!r}).open("a") as file:
    print(json.dumps(sys.argv[1:]), file=file)
if sys.argv[2:4] == ["config", "view"]:
    print({server!r}, end="")
    sys.exit(0)
answers = json.loads(Path({answers!r}).read_text())
answer = answers.get(sys.argv[-1], "Error from server (NotFound): not served")
if isinstance(answer, str):
    print(answer, file=sys.stderr)
    sys.exit(1)
print(json.dumps(answer))
"""


class StandIn:
    """kubectl in a folder of its own.

    Args:
        folder: empty.
        server: address of the API server of its only context.
    """

    def __init__(self, folder: Path, server: str = "https://lab.example.com:6443") -> None:
        self.folder = folder
        self._calls, self._answers = folder / "calls", folder / "answers"
        values = {"calls": str(self._calls), "answers": str(self._answers), "server": server}
        program = folder / "kubectl"
        program.write_text(_PROGRAM.format(python=sys.executable, **values), "utf-8")
        program.chmod(0o755)
        self.answer({})

    def answer(self, answers: dict[str, Any]) -> None:
        """Give the answer to each path: an object, or what is printed when it is refused."""
        known = {"/version": {"gitVersion": "v1.36.3+build"}}
        self._answers.write_text(json.dumps(known | answers), "utf-8")

    @property
    def calls(self) -> list[list[str]]:
        """The arguments of each call."""
        return [json.loads(line) for line in self._calls.read_text("utf-8").splitlines()]
