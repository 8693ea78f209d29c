"""Convert training jobs of SageMaker that files hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from trainyard.diagnostics import TreeError
from trainyard.handed_in import (
    OBJECTS,
    PYTHON,
    content_of,
    need_small,
    read_source,
    shown,
    source_of,
)
from trainyard.model.tenant import Tenant
from trainyard.yaml_io.source import Source
from trainyard_jobs.convert.draft import Draft
from trainyard_jobs.convert.sagemaker.convert import draft_of
from trainyard_jobs.convert.sagemaker.estimator import read_estimators
from trainyard_jobs.convert.sagemaker.request import Request
from trainyard_jobs.convert.sagemaker.training_job import is_training_job, read_training_job
from trainyard_jobs.workflows.convert import Converted, drafts_converted

_NO_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)
"""Errors of Python's parser; it has no memory for what is nested deeper than its own stack."""
_ENDINGS = frozenset({".json", ".yaml", ".yml"})


def convert_training_jobs(files: Sequence[Path], tenant: Tenant | None) -> Converted:
    """Return training jobs of SageMaker as TrainJobs.

    Args:
        files: requests or answers of its API as JSON, or Python source with estimators; ``-`` is
            standard input.
        tenant: the team that submits the jobs; None when it is not known.

    Raises:
        TreeError: a file can't be read, or is neither.
    """
    return drafts_converted(files, _read, tenant)


def _read(file: Path) -> tuple[Source, Iterator[Draft]]:
    source, requests = _requests(file)
    return source, map(draft_of, requests)


def _requests(file: Path) -> tuple[Source, list[Request]]:
    """Return the training jobs of a file, which is JSON or Python."""
    if file.suffix in _ENDINGS:
        source = read_source(file)
        return source, _of_json(source)
    content, text = content_of(file, OBJECTS)
    if text.lstrip().startswith(("{", "[")):
        source = source_of(file, content, text)
        return source, _of_json(source)
    need_small(file, content, PYTHON)
    source = Source(shown(file), content)
    try:
        return source, read_estimators(source.file, text)
    except _NO_PYTHON as error:
        number = error.lineno if isinstance(error, SyntaxError) else None
        line = f", line {number}" if number else ""
        raise TreeError(f"{source.file}{line}: this is neither JSON nor Python") from error


def _of_json(source: Source) -> list[Request]:
    """Return the training jobs of JSON: one, or a list of them."""
    requests = []
    for number, document in enumerate(source.value):
        members = document if isinstance(document, list) else [document]
        for index, body in enumerate(members):
            path = (number, index) if isinstance(document, list) else (number,)
            if is_training_job(body):
                requests.append(read_training_job(source.file, body, path))
    return requests
