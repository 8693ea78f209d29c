"""Profiles against their JSON Schema: every fault in one run, in the user's words, at its place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from jsonschema import Draft7Validator, ValidationError
from jsonschema.validators import extend
from referencing import Registry

from generator.diagnostics import Diagnostic, Pointer, Rule, Severity
from generator.dialect.source import Source
from generator.schema.wording import counted, found, listed, meant, quoted, wanted

_UNUSED = "Trainyard cannot tell what was meant, so nothing is generated and the cluster keeps its last tree"


def _rule(name: str, summary: str, fix: str, why: str = _UNUSED) -> Rule:
    return Rule(f"shape/{name}", Severity.ERROR, summary, why, fix)


UNKNOWN_KEY = _rule(
    "unknown-key",
    "Every key is one that this kind of profile knows.",
    "correct or delete the key",
    "a misspelt key would be ignored and its default used in silence",
)
MISSING_KEY = _rule("missing-key", "Every key that has no default is present.", "add the key")
WRONG_TYPE = _rule("wrong-type", "Every value is of the type that its key takes.", "write a value of the wanted type")
EMPTY_VALUE = _rule("empty-value", "Every key has a value.", "write a value or delete the key, which means its default")
WRONG_VALUE = _rule("wrong-value", "Every value is one of those, or of the form, that its key takes.", "correct it")
OUT_OF_RANGE = _rule("out-of-range", "Every number, length and count is within its limits.", "stay within the limit")
DUPLICATE_ITEM = _rule("duplicate-item", "No list names the same thing twice.", "delete the second one")
BAD_NAME = _rule("bad-name", "Every name that the user chooses can become part of a Kubernetes name.", "rename it")

RULES: Final = (
    UNKNOWN_KEY,
    MISSING_KEY,
    WRONG_TYPE,
    EMPTY_VALUE,
    WRONG_VALUE,
    OUT_OF_RANGE,
    DUPLICATE_ITEM,
    BAD_NAME,
)

_LIMITS: Mapping[str, tuple[str, str]] = {
    "minimum": ("at least", ""),
    "maximum": ("at most", ""),
    "minLength": ("at least", "character"),
    "maxLength": ("at most", "character"),
    "minItems": ("at least", "item"),
    "maxItems": ("at most", "item"),
    "minProperties": ("at least", "key"),
    "maxProperties": ("at most", "key"),
}

_Told = Callable[[ValidationError, Pointer], Iterator[Diagnostic]]
_COMPILED: dict[int, tuple[Mapping[str, Any], Draft7Validator]] = {}


def check_shape(source: Source, schema: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield everything that is wrong with the shape of a profile, in document order.

    A profile that could not be read has no shape; what the reader said of it stands.

    Args:
        source: the profile.
        schema: a draft-07 schema of the subset that `generator.schema.profiles` holds; its own keyword
            ``x-message`` says in human words what a ``pattern`` wants.
    """
    if source.value is None:
        return
    errors = list(_validator(schema).iter_errors(source.value))
    mistyped = {tuple(error.absolute_path) for error in errors if error.validator == "type"}
    for error in sorted(errors, key=_document_order(source)):
        path = tuple(error.absolute_path)
        if error.validator in {"const", "enum"} and path in mistyped:
            continue
        yield from _TELL[str(error.validator)](error, Pointer(source.file, path))


def _validator(schema: Mapping[str, Any]) -> Draft7Validator:
    """Return the compiled schema; kept with the schema itself, whose identity is the key."""
    if id(schema) not in _COMPILED:
        _COMPILED[id(schema)] = (schema, ShapeValidator(anchored(schema), registry=Registry()))
    return _COMPILED[id(schema)][1]


def anchored(schema: Any) -> Any:
    r"""Return a schema whose patterns end at the end of the text: in Python ``$`` also matches before a last newline."""
    if isinstance(schema, list):
        return [anchored(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    changed = {key: anchored(value) for key, value in schema.items()}
    if isinstance(changed.get("pattern"), str):
        changed["pattern"] = _to_the_end(changed["pattern"])
    if "patternProperties" in changed:
        changed["patternProperties"] = {_to_the_end(key): each for key, each in changed["patternProperties"].items()}
    return changed


def _to_the_end(pattern: str) -> str:
    return pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern


def _document_order(source: Source) -> Callable[[ValidationError], tuple[int, int, str]]:
    def order(error: ValidationError) -> tuple[int, int, str]:
        mark = source.mark(Pointer(source.file, tuple(error.absolute_path)))
        return mark.line, mark.column, error.message

    return order


def _property_names(
    validator: Draft7Validator, names: Mapping[str, Any], instance: Any, _schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    """One error a bad key, with the key as its instance; the library's own loses which keyword it came from."""
    for key in instance if validator.is_type(instance, "object") else ():
        reason = next(validator.descend(key, names), None)
        if reason is not None:
            yield ValidationError(reason.message, instance=key, context=[reason])


def _unknown_keys(error: ValidationError, at: Pointer) -> Iterator[Diagnostic]:
    known, patterns = error.schema.get("properties", {}), error.schema.get("patternProperties", {})
    for key in error.instance:
        if key in known or any(re.search(pattern, key) for pattern in patterns):
            continue
        if patterns and not known:
            yield BAD_NAME.at((at / key).key(), f"{quoted(key)} is not {_form(error.schema)}")
        else:
            hint = meant(key, [name for name in known if name not in error.instance] or known)
            yield UNKNOWN_KEY.at((at / key).key(), f"unknown key {quoted(key)}", hint=hint)


def _missing_key(error: ValidationError, at: Pointer) -> Iterator[Diagnostic]:
    """The library says one missing key an error, but names it only in prose."""
    (key,) = (key for key in error.validator_value if error.message.startswith(f"{key!r} "))
    yield MISSING_KEY.at(at, f"{quoted(key)} is missing{_inside(at)}")


def _wrong_type(error: ValidationError, at: Pointer) -> Iterator[Diagnostic]:
    if error.instance is None:
        yield EMPTY_VALUE.at(at, f"{_name(at)} has no value; it takes {wanted(error.validator_value)}")
    else:
        yield WRONG_TYPE.at(at, f"{_name(at)} takes {wanted(error.validator_value)}, not {found(error.instance)}")


def _wrong_choice(error: ValidationError, at: Pointer) -> Iterator[Diagnostic]:
    choices = [error.validator_value] if error.validator == "const" else error.validator_value
    if error.instance is None:
        yield EMPTY_VALUE.at(at, f"{_name(at)} has no value; it takes one of {listed(choices)}")
    else:
        message = f"{_name(at)} takes one of {listed(choices)}, not {quoted(error.instance)}"
        yield WRONG_VALUE.at(at, message, hint=meant(error.instance, choices))


def _wrong_form(error: ValidationError, at: Pointer) -> Iterator[Diagnostic]:
    yield WRONG_VALUE.at(at, f"{_name(at)} takes {_form(error.schema)}, not {quoted(error.instance)}")


def _beyond_limit(error: ValidationError, at: Pointer) -> Iterator[Diagnostic]:
    (bound, unit), limit = _LIMITS[str(error.validator)], error.validator_value
    if unit:
        yield OUT_OF_RANGE.at(at, f"{_name(at)} takes {bound} {counted(limit, unit)}; it has {len(error.instance)}")
    else:
        yield OUT_OF_RANGE.at(at, f"{_name(at)} is {error.instance}; it must be {bound} {limit}")


def _duplicates(error: ValidationError, at: Pointer) -> Iterator[Diagnostic]:
    seen: set[str] = set()
    for index, item in enumerate(error.instance):
        text = json.dumps(item, sort_keys=True)
        if text in seen:
            yield DUPLICATE_ITEM.at(at / index, f"{quoted(item)} stands twice in {_name(at)}")
        seen.add(text)


def _bad_name(error: ValidationError, at: Pointer) -> Iterator[Diagnostic]:
    (reason,) = error.context
    yield BAD_NAME.at((at / error.instance).key(), f"the name {quoted(error.instance)} is not {_form(reason.schema)}")


def _form(schema: Any) -> str:
    """Return the wanted form in human words, or else the pattern as it stands in the schema."""
    patterns = [schema["pattern"]] if "pattern" in schema else list(schema.get("patternProperties", ()))
    form = " or ".join(quoted(pattern.replace(r"\Z", "$")) for pattern in patterns)
    return str(schema.get("x-message", f"of the form {form}"))


def _name(at: Pointer) -> str:
    """Return a place as a reader would name it."""
    if not at.path:
        return "the profile"
    *above, last = at.path
    if isinstance(last, str):
        return quoted(last)
    return f"item {last + 1} of {_name(Pointer(at.file, tuple(above)))}"


def _inside(at: Pointer) -> str:
    return f" in {_name(at)}" if at.path else ""


ShapeValidator: Final = extend(Draft7Validator, {"propertyNames": _property_names})

_TELL: Mapping[str, _Told] = {
    "additionalProperties": _unknown_keys,
    "required": _missing_key,
    "type": _wrong_type,
    "const": _wrong_choice,
    "enum": _wrong_choice,
    "pattern": _wrong_form,
    "uniqueItems": _duplicates,
    "propertyNames": _bad_name,
    **dict.fromkeys(_LIMITS, _beyond_limit),
}
