"""Profiles against their JSON Schema: every fault in one run, in the user's words, at its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from jsonschema import Draft7Validator, ValidationError
from jsonschema.validators import extend
from referencing import Registry

from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.schema.faults import RULES, Fault, tell
from trainyard.schema.formats import FORMATS
from trainyard.yaml_io.source import Mark, Source

__all__ = ["RULES", "ShapeValidator", "anchored", "check_shape"]


def check_shape(source: Source, schema: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield everything that is wrong with the shape of a profile, in document order.

    A profile that could not be read has no shape: what the reader said of it stands.

    Args:
        source: the profile.
        schema: a draft-07 schema of the subset of `trainyard.schema.faults.KEYWORDS`; its own
            keyword ``x-message`` says in human words what a ``pattern`` wants.
    """
    if source.value is None:
        return
    faults = [_fault(error, source.file) for error in _validator(schema).iter_errors(source.value)]
    mistyped = {fault.at for fault in faults if fault.keyword == "type"}
    told = (
        each for each in faults if each.keyword not in {"const", "enum"} or each.at not in mistyped
    )
    diagnostics = [diagnostic for fault in told for diagnostic in tell(fault)]
    yield from sorted(
        diagnostics, key=lambda each: (*_line_and_column(source.mark(each.at)), each.message)
    )


def _line_and_column(mark: Mark) -> tuple[int, int]:
    return mark.line, mark.column


def _fault(error: ValidationError, file: str) -> Fault:
    schema = error.schema if isinstance(error.schema, Mapping) else {}
    at = Pointer(file, tuple(error.absolute_path))
    return Fault(str(error.validator), error.validator_value, error.instance, schema, at)


def _validator(schema: Mapping[str, Any]) -> Draft7Validator:
    """Return the compiled schema; it is kept with the schema itself, so that the identity stays its own."""
    if id(schema) not in _COMPILED:
        _COMPILED[id(schema)] = (schema, ShapeValidator(anchored(schema), registry=Registry()))
    return _COMPILED[id(schema)][1]


def anchored(schema: Any) -> Any:
    r"""Return a schema whose patterns match to the end: Python's ``$`` also matches before a last newline."""
    if isinstance(schema, list):
        return [anchored(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    changed = {key: anchored(value) for key, value in schema.items()}
    if isinstance(changed.get("pattern"), str):
        changed["pattern"] = _to_the_end(changed["pattern"])
    if "patternProperties" in changed:
        changed["patternProperties"] = {
            _to_the_end(key): each for key, each in changed["patternProperties"].items()
        }
    return changed


def _to_the_end(pattern: str) -> str:
    return pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern


def _property_names(
    validator: Draft7Validator, names: Mapping[str, Any], value: Any, _schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    """One error a bad key, about the key; the library's own forgets that it isn't about the mapping."""
    for key in value if isinstance(value, dict) else ():
        for reason in validator.descend(key, names):
            yield ValidationError(reason.message, instance=key, schema=reason.schema)
            break


def _required(
    _validator: Draft7Validator, keys: list[str], value: Any, _schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    """One error a missing key, about the key; the library's own says it only in prose."""
    for key in keys if isinstance(value, dict) else ():
        if key not in value:
            yield ValidationError(f"{key} is missing", instance=key)


def _format(
    _validator: Draft7Validator, name: str, value: Any, _schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    """One error a text that is not of one of our formats; those of manifests are for the API server to check."""
    if name in FORMATS and isinstance(value, str) and FORMATS[name](value):
        yield ValidationError(f"not of the format {name}")


ShapeValidator: Final = extend(  # type: ignore[no-untyped-call]
    Draft7Validator, {"format": _format, "propertyNames": _property_names, "required": _required}
)
"""Draft 7 with errors about keys that name the key, and with our formats."""

_COMPILED: Final[dict[int, tuple[Mapping[str, Any], Draft7Validator]]] = {}
