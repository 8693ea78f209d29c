"""What is wrong with the shape of a profile, as diagnostics in the user's words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trainyard.diagnostics import Diagnostic, Pointer, Rule, Severity
from trainyard.model.quantity import counted
from trainyard.schema.formats import FORMATS
from trainyard.schema.wording import found, listed, meant, quoted, wanted
from trainyard.yaml_io.lookalikes import beyond_ascii

_UNUSED = (
    "Trainyard cannot tell what was meant, so nothing is generated and the cluster keeps its "
    "last tree"
)


def _rule(name: str, summary: str, fix: str, why: str = _UNUSED) -> Rule:
    return Rule(f"shape/{name}", Severity.ERROR, summary, why, fix)


UNKNOWN_KEY = _rule(
    "unknown-key",
    "Every key is one that this kind of profile knows.",
    "correct or delete the key",
    "a misspelt key would be ignored and its default used in silence",
)
MISSING_KEY = _rule("missing-key", "Every key that has no default is present.", "add the key")
WRONG_TYPE = _rule(
    "wrong-type", "Every value is of the type that its key takes.", "write a value of that type"
)
EMPTY_VALUE = _rule(
    "empty-value", "Every key has a value.", "write a value, or delete the key to get its default"
)
WRONG_VALUE = _rule(
    "wrong-value", "Every value is one of those, or of the form, that its key takes.", "correct it"
)
OUT_OF_RANGE = _rule(
    "out-of-range", "Every number, length and count is within its limits.", "stay within the limit"
)
DUPLICATE_ITEM = _rule(
    "duplicate-item", "No list names the same thing twice.", "delete the second one"
)
BAD_NAME = _rule(
    "bad-name",
    "Every name that the user chooses can become part of a Kubernetes name.",
    "rename it",
)

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


@dataclass(frozen=True, slots=True)
class Fault:
    """One broken keyword of a schema.

    Args:
        keyword: e.g. ``minimum``.
        limit: what the schema says after it.
        value: what stands in the profile; for ``required`` and ``propertyNames`` the key that is
            meant.
        schema: the schema that the keyword belongs to; for ``propertyNames`` the one that the key
            breaks.
        at: place of the value, or of the mapping that has the key.
    """

    keyword: str
    limit: Any
    value: Any
    schema: Mapping[str, Any]
    at: Pointer


def tell(fault: Fault) -> Iterator[Diagnostic]:
    """Yield what to say of a fault: one diagnostic, or one for each unknown key or duplicate item."""
    return _TELL[fault.keyword](fault)


def _unknown_keys(fault: Fault) -> Iterator[Diagnostic]:
    known, patterns = fault.schema.get("properties", {}), fault.schema.get("patternProperties", {})
    for key in fault.value:
        if key in known or any(re.search(pattern, key) for pattern in patterns):
            continue
        at = (fault.at / key).key()
        if patterns:
            yield BAD_NAME.at(
                at, f"the name {quoted(key)} is not {_form(fault.schema)}{beyond_ascii(key)}"
            )
        else:
            unused = [name for name in known if name not in fault.value]
            yield UNKNOWN_KEY.at(
                at, f"unknown key {quoted(key)}{beyond_ascii(key)}", hint=meant(key, unused)
            )


def _missing_key(fault: Fault) -> Iterator[Diagnostic]:
    where = f" in {_name(fault.at)}" if fault.at.path else ""
    yield MISSING_KEY.at(fault.at, f"the key {quoted(fault.value)} is missing{where}")


def _wrong_type(fault: Fault) -> Iterator[Diagnostic]:
    takes = f"takes {wanted(fault.limit)}"
    if fault.value is None:
        yield EMPTY_VALUE.at(fault.at, f"empty value: {_name(fault.at)} {takes}")
    elif unit := _missing_unit(fault):
        yield WRONG_TYPE.at(fault.at, _no_unit(fault), hint=f"write {quoted(unit)}")
    else:
        yield WRONG_TYPE.at(fault.at, f"{_name(fault.at)} {takes}, not {found(fault.value)}")


def _wrong_choice(fault: Fault) -> Iterator[Diagnostic]:
    choices = [fault.limit] if fault.keyword == "const" else fault.limit
    takes = f"takes {'one of ' if len(choices) > 1 else ''}{listed(choices)}"
    if fault.value is None:
        yield EMPTY_VALUE.at(fault.at, f"empty value: {_name(fault.at)} {takes}")
    else:
        message = (
            f"{_name(fault.at)} {takes}, not {quoted(fault.value)}{beyond_ascii(str(fault.value))}"
        )
        yield WRONG_VALUE.at(fault.at, message, hint=meant(fault.value, choices))


def _wrong_form(fault: Fault) -> Iterator[Diagnostic]:
    if unit := _missing_unit(fault):
        yield WRONG_VALUE.at(fault.at, _no_unit(fault), hint=f"write {quoted(unit)}")
    else:
        told = f"{_name(fault.at)} takes {_form(fault.schema)}, not {quoted(fault.value)}"
        yield WRONG_VALUE.at(fault.at, f"{told}{beyond_ascii(fault.value)}")


def _missing_unit(fault: Fault) -> str:
    """Return a bare number with the unit of the schema's example, `64Gi` for 64; nothing where none is missing."""
    example = str(next(iter(fault.schema.get("examples", ())), ""))
    number, unit = str(fault.value), example.lstrip("0123456789")
    fits = re.search(fault.schema.get("pattern", ""), number + unit)
    return (
        number + unit
        if re.fullmatch("[0-9]+", number) and unit.isalpha() and unit != example and fits
        else ""
    )


def _no_unit(fault: Fault) -> str:
    return f"{_name(fault.at)} has no unit: {fault.value} what? It takes {_form(fault.schema)}"


def _wrong_format(fault: Fault) -> Iterator[Diagnostic]:
    yield WRONG_VALUE.at(fault.at, f"{_name(fault.at)} {FORMATS[fault.limit](fault.value)}")


def _outside(fault: Fault) -> Iterator[Diagnostic]:
    bound, unit = _LIMITS[fault.keyword]
    if unit:
        message = (
            f"{_name(fault.at)} takes {bound} {counted(fault.limit, unit)}; it has "
            f"{len(fault.value)}"
        )
    else:
        message = f"{_name(fault.at)} is {fault.value}; it must be {bound} {fault.limit}"
    yield OUT_OF_RANGE.at(fault.at, message)


def _duplicates(fault: Fault) -> Iterator[Diagnostic]:
    seen: set[str] = set()
    for index, item in enumerate(fault.value):
        text = json.dumps(item, sort_keys=True)
        if text in seen:
            yield DUPLICATE_ITEM.at(
                fault.at / index, f"{quoted(item)} stands twice in {_name(fault.at)}"
            )
        seen.add(text)


def _bad_name(fault: Fault) -> Iterator[Diagnostic]:
    message = (
        f"the name {quoted(fault.value)} is not {_form(fault.schema)}{beyond_ascii(fault.value)}"
    )
    yield BAD_NAME.at((fault.at / fault.value).key(), message)


def _form(schema: Mapping[str, Any]) -> str:
    """Return the wanted form in the schema's own human words, or else its patterns as they stand there."""
    patterns = [schema["pattern"]] if "pattern" in schema else schema.get("patternProperties", ())
    plain = " or ".join(quoted(pattern.replace(r"\Z", "$")) for pattern in patterns)
    return str(schema.get("x-message", f"text of the form {plain}"))


def _name(at: Pointer) -> str:
    """Return a place as a reader would name it: the nearest key, and the number of the item below it."""
    if not at.path:
        return "the profile"
    *above, last = at.path
    if isinstance(last, str):
        return quoted(last)
    return f"item {last + 1} of {_name(Pointer(at.file, tuple(above)))}"


_LIMITS: Final[Mapping[str, tuple[str, str]]] = {
    "minimum": ("at least", ""),
    "maximum": ("at most", ""),
    "minLength": ("at least", "character"),
    "maxLength": ("at most", "character"),
    "minItems": ("at least", "item"),
    "maxItems": ("at most", "item"),
    "minProperties": ("at least", "key"),
    "maxProperties": ("at most", "key"),
}

_TELL: Final[Mapping[str, Callable[[Fault], Iterator[Diagnostic]]]] = {
    "additionalProperties": _unknown_keys,
    "required": _missing_key,
    "type": _wrong_type,
    "const": _wrong_choice,
    "enum": _wrong_choice,
    "pattern": _wrong_form,
    "format": _wrong_format,
    "uniqueItems": _duplicates,
    "propertyNames": _bad_name,
    **dict.fromkeys(_LIMITS, _outside),
}

KEYWORDS: Final = frozenset(_TELL)
"""Every keyword that a schema of profiles may assert."""
