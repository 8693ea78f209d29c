"""An MPIJob of any shape is converted or refused, and never ends the command."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from tests.jobs.convert.mpijob.cases import HERE
from trainyard.cli.console import printable
from trainyard.diagnostics import Pointer
from trainyard.handed_in import read_source
from trainyard_jobs.convert.mpijob.job import converted
from trainyard_jobs.convert.text import document, lines

ODD: tuple[Any, ...] = (
    None,
    "",
    "x",
    0,
    -1,
    1.5,
    True,
    [],
    ["x"],
    [None],
    {},
    {"x": "y"},
    [{}],
    [{"name": "x"}],
)


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value in another."""
    members = value.items() if isinstance(value, dict) else ()
    for key, each in enumerate(value) if isinstance(value, list) else members:
        yield (*path, key)
        yield from paths(each, (*path, key))


def replaced(body: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return a copy with another value at a path."""
    copy = inner = deepcopy(body)
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return copy


@pytest.mark.parametrize("case", ["horovodrun", "run-policies", "sidecars", "variables", "volumes"])
def test_odd_values_are_converted_or_refused(case: str) -> None:
    (body,) = read_source(HERE / f"{case}.yaml").value
    for number, path in enumerate(paths(body)):
        for value in (ODD[number % len(ODD)], ODD[(number * 5 + 3) % len(ODD)]):
            conversion = converted(replaced(body, path, value), Pointer("x"), None)

            assert [*lines(conversion, str, printable)] or conversion.job
            assert conversion.job is None or document(conversion, str, printable)
