"""Ask an API server by kubectl: `get --raw` of a path of the table, and nothing else.

kubectl knows every way to log in. No other module starts it; a test holds both.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from typing import Any

from trainyard.diagnostics import TreeError
from trainyard.programs import run

_TIMEOUT = 60.0
"""Seconds for one answer; a login in a browser is included."""
_STATUS = re.compile(r"^Error from server \((\w+)\)", re.MULTILINE)
_SERVER = "jsonpath={.clusters[0].cluster.server}"

NOT_SERVED = "NotFound"
"""What kubectl calls a kind that is not served, and an object that is not there."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an API server answered.

    Args:
        body: empty when it refused.
        refusal: its reason, e.g. ``Forbidden``; empty for none.
    """

    body: dict[str, Any]
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Kubectl:
    """kubectl with a context of its configuration, which is always named."""

    context: str

    def server(self) -> str:
        """Return the address of the context's API server, from kubectl's own configuration.

        Raises:
            ToolError: kubectl is missing, or has no such context.
        """
        view = ("config", "view", "--minify", "--output", _SERVER)
        return run(self._command(*view), timeout=_TIMEOUT, environment=os.environ).stdout.strip()

    def get(self, path: str) -> Answer:
        """Return the answer to a GET of a path.

        Raises:
            ToolError: kubectl is missing, or takes too long.
            TreeError: the API server does not answer, or does not know the account.
        """
        command = self._command("get", "--raw", path)
        done = run(command, timeout=_TIMEOUT, environment=os.environ, accept=(0, 1))
        if done.code == 0:
            return Answer(_object(path, done.stdout))
        if found := _STATUS.search(done.stderr):
            return Answer({}, found[1])
        said = done.stderr.strip()[-500:]
        raise TreeError(f"context `{self.context}`: {said or 'kubectl failed and printed nothing'}")

    def _command(self, *arguments: str) -> tuple[str, ...]:
        return ("kubectl", f"--context={self.context}", *arguments)


def _object(path: str, printed: str) -> dict[str, Any]:
    try:
        body = json.loads(printed)
    except (RecursionError, ValueError) as error:
        raise TreeError(f"the answer to {path} is not JSON: {error}") from error
    if not isinstance(body, dict):
        raise TreeError(f"the answer to {path} is not an object")
    return body
