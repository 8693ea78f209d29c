"""Validation of profiles against their JSON Schemas, with all faults in one run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from jsonschema import Draft7Validator, ValidationError
from jsonschema.validators import extend
from referencing import Registry

from trainyard.diagnostics import Diagnostic, Pointer
from trainyard.schema.faults import Fault, describe
from trainyard.schema.formats import FORMATS
from trainyard.yaml_io.source import Ambiguous, Mark, Source

__all__ = ["ShapeValidator", "anchored", "check_shape"]


def check_shape(source: Source, schema: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield all faults in the shape of a profile, in document order.

    A profile that could not be read yields nothing: the reader has reported it.

    Args:
        source: the profile.
        schema: a draft-07 schema with the keywords in `trainyard.schema.faults.KEYWORDS`. Its own
            keyword ``x-message`` describes for users the form that a ``pattern`` requires.
    """
    if source.value is None:
        return
    diagnostics = [each for fault in _faults(source, schema) for each in describe(fault)]
    yield from sorted(diagnostics, key=lambda each: _order(source.mark(each.at), each))


def _faults(source: Source, schema: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield the faults of a profile, one for each value of a wrong type."""
    errors = _validator(schema).iter_errors(source.value)
    faults = [_fault(error, source.file) for error in errors]
    mistyped = {fault.at for fault in faults if fault.keyword == "type"}
    for fault in faults:
        # A value of a wrong type is none of the choices either.
        repeated = fault.keyword in {"const", "enum"} and fault.at in mistyped
        if not repeated and not isinstance(fault.value, Ambiguous):
            yield fault


def _order(mark: Mark, diagnostic: Diagnostic) -> tuple[int, int, str]:
    return mark.line, mark.column, diagnostic.message


def _fault(error: ValidationError, file: str) -> Fault:
    schema = error.schema if isinstance(error.schema, Mapping) else {}
    at = Pointer(file, tuple(error.absolute_path))
    return Fault(str(error.validator), error.validator_value, error.instance, schema, at)


def _validator(schema: Mapping[str, Any]) -> Draft7Validator:
    """Return the compiled schema. It is kept with the schema, so that no other gets the same id."""
    if id(schema) not in _COMPILED:
        _COMPILED[id(schema)] = (schema, ShapeValidator(anchored(schema), registry=Registry()))
    return _COMPILED[id(schema)][1]


def anchored(schema: Any) -> Any:
    r"""Return a schema with ``\Z`` for ``$``, which Python also matches before a last newline."""
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
    """Yield one error for each bad key; the library's own error is about the mapping."""
    for key in value if isinstance(value, dict) else ():
        for reason in validator.descend(key, names):
            yield ValidationError(reason.message, instance=key, schema=reason.schema)
            break


def _required(
    _validator: Draft7Validator, keys: list[str], value: Any, _schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    """Yield one error for each missing key; the library names the key in its message only."""
    for key in keys if isinstance(value, dict) else ():
        if key not in value:
            yield ValidationError(f"{key} is missing", instance=key)


def _dependencies(
    _validator: Draft7Validator, needs: Mapping[str, list[str]], value: Any, _: Mapping[str, Any]
) -> Iterator[ValidationError]:
    """Yield one error for each key that is missing beside another."""
    present = value if isinstance(value, dict) else {}
    missing = {key for need in needs if need in present for key in needs[need]} - set(present)
    for key in sorted(missing):
        yield ValidationError(f"{key} is missing", instance=key)


def _format(
    _validator: Draft7Validator, name: str, value: Any, _schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    """Yield an error for a text that does not have one of our formats; ignore other formats."""
    if name in FORMATS and isinstance(value, str) and FORMATS[name](value):
        yield ValidationError(f"not of the format {name}")


ShapeValidator: Final = extend(  # type: ignore[no-untyped-call]
    Draft7Validator,
    {
        "dependencies": _dependencies,
        "format": _format,
        "propertyNames": _property_names,
        "required": _required,
    },
)
"""Draft 7 whose errors about keys name the key, with our formats."""

_COMPILED: Final[dict[int, tuple[Mapping[str, Any], Draft7Validator]]] = {}
