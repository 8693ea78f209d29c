"""Diagnostics for faults in the shape of a profile."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trainyard.diagnostics import Diagnostic, Pointer, Rule, Severity
from trainyard.model.quantity import counted
from trainyard.rules.shape.bad_name import RULE as BAD_NAME
from trainyard.rules.shape.duplicate_item import RULE as DUPLICATE_ITEM
from trainyard.rules.shape.empty_value import RULE as EMPTY_VALUE
from trainyard.rules.shape.missing_key import RULE as MISSING_KEY
from trainyard.rules.shape.out_of_range import RULE as OUT_OF_RANGE
from trainyard.rules.shape.unknown_key import RULE as UNKNOWN_KEY
from trainyard.rules.shape.wrong_type import RULE as WRONG_TYPE
from trainyard.rules.shape.wrong_value import RULE as WRONG_VALUE
from trainyard.schema.formats import FORMATS
from trainyard.schema.wording import found, listed, meant, quoted, wanted
from trainyard.yaml_io.lookalikes import beyond_ascii

_UNUSED = "Nothing is generated, and the cluster keeps its last tree."


def _rule(name: str, summary: str, fix: str, why: str = _UNUSED) -> Rule:
    """Return a rule of this family; without a `why` it has the one that most of them share."""
    return Rule(f"shape/{name}", Severity.ERROR, summary, why, fix)


@dataclass(frozen=True, slots=True)
class Fault:
    """A keyword of a schema that a profile does not satisfy.

    Args:
        keyword: e.g. ``minimum``.
        limit: the keyword's value in the schema.
        value: the value in the profile; for ``required``, ``dependencies`` and ``propertyNames``
            the key in question.
        schema: the schema with the keyword; for ``propertyNames`` the schema of keys.
        at: place of the value; for a fault of a key, place of the mapping that has it.
    """

    keyword: str
    limit: Any
    value: Any
    schema: Mapping[str, Any]
    at: Pointer


def describe(fault: Fault) -> Iterator[Diagnostic]:
    """Yield the diagnostics of a fault: one, or one for each unknown key or duplicate item."""
    return _DESCRIBE[fault.keyword](fault)


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
    unit = _missing_unit(fault)
    if fault.value is None:
        form = fault.schema.get("x-message", wanted(fault.limit))
        yield EMPTY_VALUE.at(fault.at, f"empty value: {_name(fault.at)} takes {form}")
    elif unit:
        yield WRONG_TYPE.at(fault.at, _no_unit(fault), hint=f"Write {quoted(unit)}.")
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
    unit = _missing_unit(fault)
    if unit:
        yield WRONG_VALUE.at(fault.at, _no_unit(fault), hint=f"Write {quoted(unit)}.")
    else:
        message = f"{_name(fault.at)} takes {_form(fault.schema)}, not {quoted(fault.value)}"
        yield WRONG_VALUE.at(fault.at, f"{message}{beyond_ascii(fault.value)}")


def _missing_unit(fault: Fault) -> str:
    """Return a number with the unit that it lacks, e.g. ``64Gi`` for 64; otherwise "".

    The unit is that of the schema's example.
    """
    example = str(next(iter(fault.schema.get("examples", ())), ""))
    number, unit = str(fault.value), example.lstrip("0123456789")
    if not re.fullmatch("[0-9]+", number) or not unit.strip().isalpha() or unit == example:
        return ""
    fits = re.search(fault.schema.get("pattern", ""), number + unit)
    return number + unit if fits else ""


def _no_unit(fault: Fault) -> str:
    return f"{_name(fault.at)} takes {_form(fault.schema)}; {quoted(fault.value)} has no unit"


def _wrong_format(fault: Fault) -> Iterator[Diagnostic]:
    yield WRONG_VALUE.at(fault.at, f"{_name(fault.at)} {FORMATS[fault.limit](fault.value)}")


def _outside(fault: Fault) -> Iterator[Diagnostic]:
    bound, unit = _LIMITS[fault.keyword]
    hint = ""
    if unit:
        message = (
            f"{_name(fault.at)} takes {bound} {counted(fault.limit, unit)}; it has "
            f"{len(fault.value)}"
        )
        hint = "" if fault.value else "Add one, or delete the key if it has a default."
        lacking = [key for key in fault.schema.get("properties", ()) if key not in fault.value]
        if fault.keyword == "minProperties" and lacking:
            hint = f"It has none of {listed(lacking)}."
    else:
        message = f"{_name(fault.at)} is {fault.value}; it must be {bound} {fault.limit}"
    yield OUT_OF_RANGE.at(fault.at, message, hint=hint)


def _duplicates(fault: Fault) -> Iterator[Diagnostic]:
    seen: set[str] = set()
    for index, item in enumerate(fault.value):
        text = json.dumps(item, sort_keys=True)
        if text in seen:
            yield DUPLICATE_ITEM.at(
                fault.at / index, f"{quoted(item)} is listed twice in {_name(fault.at)}"
            )
        seen.add(text)


def _bad_name(fault: Fault) -> Iterator[Diagnostic]:
    at, key = (fault.at / fault.value).key(), f"{quoted(fault.value)}"
    if known := fault.schema.get("enum"):
        hint = meant(fault.value, known)
        yield UNKNOWN_KEY.at(at, f"unknown key {key}{beyond_ascii(fault.value)}", hint=hint)
    else:
        form = f"{_form(fault.schema)}{beyond_ascii(fault.value)}"
        yield BAD_NAME.at(at, f"the name {key} is not {form}")


def _form(schema: Mapping[str, Any]) -> str:
    """Return the form that a schema requires: its ``x-message``, or else its patterns."""
    patterns = [schema["pattern"]] if "pattern" in schema else schema.get("patternProperties", ())
    plain = " or ".join(quoted(pattern.replace(r"\Z", "$")) for pattern in patterns)
    return str(schema.get("x-message", f"text of the form {plain}"))


def _name(at: Pointer) -> str:
    """Return a place as text: its nearest key, and the number of the list item below it."""
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

_DESCRIBE: Final[Mapping[str, Callable[[Fault], Iterator[Diagnostic]]]] = {
    "additionalProperties": _unknown_keys,
    "required": _missing_key,
    "dependencies": _missing_key,
    "type": _wrong_type,
    "const": _wrong_choice,
    "enum": _wrong_choice,
    "pattern": _wrong_form,
    "format": _wrong_format,
    "uniqueItems": _duplicates,
    "propertyNames": _bad_name,
    **dict.fromkeys(_LIMITS, _outside),
}

KEYWORDS: Final = frozenset(_DESCRIBE)
"""Every keyword that the schema of a profile may use to constrain values."""
