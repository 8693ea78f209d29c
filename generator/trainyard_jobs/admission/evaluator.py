"""Run the evaluator: a Go program with the API server's own admission plugins."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from trainyard import programs
from trainyard.diagnostics import ToolError
from trainyard.golang import build_program, find_program
from trainyard.model.admission import Answer, Denial, Judge, Request
from trainyard.model.manifest import Manifest

SOURCE = Path(__file__).parent / "evaluator"
_KINDS = frozenset(
    {"ConfigMap", "Namespace", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"}
)
_SECONDS = 60.0


def build() -> Path:
    """Build the evaluator unless it is there, and return its path.

    Raises:
        ToolError: there is no Go, a checksum does not match, or it does not build.
    """
    return find_program(SOURCE) or build_program(SOURCE)


def is_built() -> bool:
    """Return whether the evaluator is there: built, or installed as a wheel."""
    return find_program(SOURCE) is not None


def judge_of(version: str, manifests: Iterable[Manifest]) -> Judge | None:
    """Return the judge of a cluster's requests; None when the evaluator is not built.

    Args:
        version: minor version of its Kubernetes, e.g. ``1.34``.
        manifests: its objects.
    """
    program = find_program(SOURCE)
    if program is None:
        return None
    objects = [manifest.body for manifest in manifests if manifest.body["kind"] in _KINDS]
    return partial(_judge, program, version, objects)


def _judge(
    program: Path, version: str, objects: Sequence[dict[str, Any]], requests: Sequence[Request]
) -> list[Answer]:
    """Return the answers to some requests.

    Raises:
        ToolError: the evaluator fails, for example on an object that is not a valid policy.
    """
    if not requests:
        return []
    asked = {"version": version, "objects": objects, "requests": list(map(_plain, requests))}
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        file.write(json.dumps(asked))
        file.flush()
        done = programs.run([program, file.name], timeout=_SECONDS)
    try:
        return [_answer(answer) for answer in json.loads(done.stdout)["answers"]]
    except (KeyError, TypeError, ValueError) as error:
        raise ToolError(f"`{program.name}` printed no answers") from error


def _plain(request: Request) -> dict[str, Any]:
    return {
        "object": request.body,
        "resource": request.resource,
        "user": request.user,
        "groups": list(request.groups),
    }


def _answer(answer: dict[str, Any]) -> Answer:
    """Return an answer with its denials by policy: the plugin takes policies in any order."""
    denials = [
        Denial(denial["policy"], denial["binding"], denial["message"])
        for denial in answer["denials"]
    ]
    ordered = sorted(denials, key=lambda denial: (denial.policy, denial.binding))
    return Answer(tuple(ordered), "" if answer["admitted"] else answer["error"])
