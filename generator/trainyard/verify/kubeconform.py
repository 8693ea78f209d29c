"""Check built objects against a release's schemas in one run of kubeconform."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from trainyard.diagnostics import ToolError
from trainyard.programs import Completed, run
from trainyard.verify.tools import Tool

CHARACTERS = 100_000
"""Characters of objects for which kubeconform gets another second: it takes 0.1 s on an idle
machine."""

LAYOUT = "{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json"
"""Path of a schema in its folder, as kubeconform fills it in."""

NO_FILES: Mapping[str, bytes] = MappingProxyType({})

_STATUSES = ("statusValid", "statusInvalid", "statusError", "statusSkipped")
_SUMMARY = ("valid", "invalid", "errors", "skipped")


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One object that kubeconform does not accept.

    Args:
        stream: name of the stream that holds it.
        kind, name: of the object; empty when it could not be read.
        version: its ``apiVersion``.
        path: place inside the object as a JSON pointer, empty for the object as a whole.
        message: what is wrong there.
    """

    stream: str
    kind: str
    name: str
    version: str
    path: str
    message: str


@dataclass(frozen=True, slots=True)
class Report:
    """Kubeconform's result for all streams; an object with two mistakes has two findings.

    Args:
        valid: number of objects that fit their schema.
        invalid: objects that don't, sorted.
        errors: objects that could not be checked (no schema, no YAML), sorted.
        skipped: number of objects that were passed over.
        total: number of objects seen; a caller must compare it, and ``valid``, with the number that
            it wrote.
    """

    valid: int
    invalid: tuple[Finding, ...]
    errors: tuple[Finding, ...]
    skipped: int
    total: int

    @property
    def rejected(self) -> list[Finding]:
        """Every finding once, sorted."""
        return sorted({*self.invalid, *self.errors})


def validate(
    tool: Tool,
    streams: Mapping[str, str],
    schemas: str,
    own: Mapping[str, bytes] = NO_FILES,
    *,
    timeout: float = 20.0,
) -> Report:
    """Check all objects of all streams.

    The streams are files: v0.7.0 reuses one buffer for all documents of stdin while its workers
    still read them, and a file's name shows which stream a finding belongs to.

    Args:
        tool: kubeconform.
        streams: YAML streams by a name of the caller's choice, e.g. the sync unit.
        schemas: absolute path of a schema as kubeconform's template, ending in ``.json``, e.g.
            ``/r/schemas/{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json``.
        own: schemas that come before those, by path, e.g. ``v1/namespace_v1.json``.
        timeout: seconds, to which large streams add.

    Raises:
        ToolError: kubeconform breaks or can't be read, or the schemas are not local files.
    """
    # What starts with http is downloaded, and what lacks .json gets kubeconform's own layout.
    if not (schemas.startswith("/") and schemas.endswith(".json")):
        raise ToolError(f"the schemas must be local files, not {schemas!r}")
    names = {f"{number:06}.yaml": name for number, name in enumerate(sorted(streams))}
    with tempfile.TemporaryDirectory(prefix="trainyard-") as folder:
        inside = Path(folder) / "streams"
        _write(inside, {file: streams[name].encode() for file, name in names.items()})
        _write(Path(folder) / "schemas", own)
        places = [f"{folder}/schemas/{LAYOUT}", schemas] if own else [schemas]
        timeout += sum(map(len, streams.values())) / CHARACTERS
        completed = run(_command(tool, places), timeout=timeout, cwd=inside, accept=(0, 1))
    try:
        return _report(completed, names)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        printed = (completed.stderr or completed.stdout).strip()[-500:]
        raise ToolError(f"{tool.name} printed no report that can be read: {printed!r}") from error


def _command(tool: Tool, schemas: list[str]) -> list[str | Path]:
    """Return the call that checks the files of the current folder; the first schema found holds."""
    options = ["-output", "json", "-summary", "-verbose", "-strict"]
    for each in schemas:
        options += ["-schema-location", each]
    return [tool.path, *options, "."]


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    folder.mkdir()
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


def _report(completed: Completed, names: Mapping[str, str]) -> Report:
    document = json.loads(completed.stdout)
    resources = _objects(document)
    counts = Counter(resource["status"] for resource in resources)
    valid, invalid, errors, skipped = (counts[status] for status in _STATUSES)
    if [document["summary"][key] for key in _SUMMARY] != [valid, invalid, errors, skipped]:
        raise ValueError("its summary is not the sum of its results")
    if counts.total() != valid + invalid + errors + skipped:
        raise ValueError("a result has an unknown status")
    if (invalid + errors > 0) != (completed.code != 0):
        raise ValueError("its exit code differs from its results")
    return Report(
        valid,
        _findings(resources, "statusInvalid", names),
        _findings(resources, "statusError", names),
        skipped,
        counts.total(),
    )


def _objects(document: Any) -> list[Any]:
    """Return the results of objects; an empty document has an empty status."""
    return [resource for resource in document["resources"] if resource["status"]]


def _findings(resources: list[Any], status: str, names: Mapping[str, str]) -> tuple[Finding, ...]:
    """Return the mistakes of the objects that have a status, sorted."""
    found = []
    for resource in resources:
        if resource["status"] == status:
            stream = names[resource["filename"]]
            kind, name, version = (_string(resource, key) for key in ("kind", "name", "version"))
            found += [
                Finding(stream, kind, name, version, path, message)
                for path, message in _mistakes(resource)
            ]
    return tuple(sorted(found))


def _string(resource: Mapping[str, Any], key: str) -> str:
    value = resource[key]
    if not isinstance(value, str):
        raise TypeError(f"{key} is not text")
    return value


def _mistakes(resource: Mapping[str, Any]) -> list[tuple[str, str]]:
    mistakes = [
        (str(mistake["path"]), str(mistake["msg"]))
        for mistake in resource.get("validationErrors") or ()
    ]
    return mistakes or [("", str(resource["msg"]))]
