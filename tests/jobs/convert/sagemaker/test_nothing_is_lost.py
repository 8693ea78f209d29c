"""Every field of a request, and every argument of an estimator, is in the TrainJob or in a note."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from trainyard_jobs.convert.sagemaker.convert import draft_of
from trainyard_jobs.convert.sagemaker.estimator import FIELDS, MEANINGS, read_estimators
from trainyard_jobs.convert.sagemaker.training_job import read_training_job

REQUEST = json.loads((Path(__file__).parent / "cases" / "mpi-request.json").read_text("utf-8"))
OWN = {"HyperParameters", "Environment", "Tags", "MetricDefinitions", "DataSource"}
"""Mappings whose keys are names, which are kept, or that are noted as a whole."""


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every mapping whose unknown fields must be named."""
    if isinstance(value, dict):
        yield path
        for key, each in value.items():
            if key not in OWN:
                yield from paths(each, (*path, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from paths(each, (*path, index))


@pytest.mark.parametrize("path", list(paths(REQUEST)))
def test_no_unknown_field_is_lost(path: tuple[Any, ...]) -> None:
    changed = deepcopy(REQUEST)
    place = changed
    for step in path:
        place = place[step]
    place["UnheardOf"] = "value"

    notes = draft_of(read_training_job("x", changed, (0,))).notes

    assert [note.at.path for note in notes if "UnheardOf" in note.what] == [(0, *path, "UnheardOf")]


def seen(argument: str) -> tuple[Any, ...]:
    source = f"""PyTorch(entry_point="a.py", instance_count=2, instance_type="ml.p4d.24xlarge",
        distribution={{"torch_distributed": {{"enabled": True}}}}{argument})"""
    (request,) = read_estimators("x", source)
    draft = draft_of(request)
    notes = frozenset((note.what, note.meaning) for note in draft.notes)
    return (notes, draft.name, draft.args, draft.image, draft.deadline, draft.restarts)


GIVEN = {"entry_point", "instance_count", "instance_type"}
NUMBERS = {"max_run", "retries"}
LISTS = {"entrypoint", "arguments"}


@pytest.mark.parametrize("name", [*FIELDS, *MEANINGS, "unheard_of"])
def test_argument_is_seen(name: str) -> None:
    if name in GIVEN or FIELDS.get(name) in {"instances", "instance_type", "arguments"}:
        return
    value = "7" if FIELDS.get(name) in NUMBERS else '["x"]' if FIELDS.get(name) in LISTS else '"x"'

    assert seen(f", {name}={value}") != seen("")
