"""A training job of any shape is converted or refused, and never ends the command."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from trainyard.cli.console import printable
from trainyard_jobs.convert.finish import finish
from trainyard_jobs.convert.sagemaker.convert import draft_of
from trainyard_jobs.convert.sagemaker.estimator import read_estimators
from trainyard_jobs.convert.sagemaker.training_job import read_training_job
from trainyard_jobs.convert.text import document

HERE = Path(__file__).parent / "cases"
ODD: tuple[Any, ...] = (None, "", "x", 0, -1, 1.5, True, [], ["x"], [None], {}, {"x": "y"}, [{}])
REQUESTS = ("mpi-request", "own-container", "same-groups", "torch-description")
SOURCES = sorted(HERE.glob("*.py.txt"))


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value in another."""
    members = value.items() if isinstance(value, dict) else ()
    for key, each in enumerate(value) if isinstance(value, list) else members:
        yield (*path, key)
        yield from paths(each, (*path, key))


@pytest.mark.parametrize("case", REQUESTS)
@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_request(case: str, odd: Any) -> None:
    request = json.loads((HERE / f"{case}.json").read_text("utf-8"))
    for path in paths(request):
        changed = deepcopy(request)
        place = changed
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = odd
        made = finish(draft_of(read_training_job("x", changed, (0,))), None)
        if made.job is not None:
            document(made, str, printable)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
@pytest.mark.parametrize("odd", [*ODD, b"x", ...], ids=repr)
def test_arguments(source: Path, odd: Any) -> None:
    """Each argument of each call is replaced once."""
    text = source.read_text("utf-8")
    count = sum(isinstance(node, ast.keyword) for node in ast.walk(ast.parse(text)))
    for number in range(count):
        tree = ast.parse(text)
        keywords = [node for node in ast.walk(tree) if isinstance(node, ast.keyword)]
        keywords[number].value = ast.parse(repr(odd)).body[0].value  # type: ignore[attr-defined] # an expression
        for request in read_estimators("x", ast.unparse(tree)):
            made = finish(draft_of(request), None)
            if made.job is not None:
                document(made, str, printable)
