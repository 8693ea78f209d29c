"""Faults in the shape of profiles: their rules, places and messages."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainyard.diagnostics import Diagnostic, Pointer, Step
from trainyard.schema.profiles import profile_schema
from trainyard.schema.shape import check_shape
from trainyard.yaml_io.reader import read
from trainyard.yaml_io.source import Mark, Source

NAME = {"type": "string", "pattern": "^[a-z]+$", "x-message": "lower-case letters"}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["contact"],
    "properties": {
        "contact": {"type": "string", "minLength": 3, "maxLength": 5},
        "gpus": {"type": "integer", "minimum": 1, "maximum": 8},
        "state": {"type": "string", "enum": ["active", "draining"]},
        "format": {"const": 1},
        "name": NAME,
        "code": {"type": "string", "pattern": "^[0-9]+$"},
        "labels": {"type": ["string", "integer"]},
        "runtimes": {
            "type": "array",
            "items": {"$ref": "#/definitions/name"},
            "uniqueItems": True,
            "minItems": 1,
            "maxItems": 3,
        },
        "quota": {
            "type": "object",
            "propertyNames": {"$ref": "#/definitions/name"},
            "additionalProperties": {"type": "object", "minProperties": 1, "maxProperties": 2},
        },
        "spared": {
            "type": "object",
            "properties": {"pods": {}, "queues": {}, "until": {}},
            "minProperties": 2,
        },
        "libraries": {
            "type": "object",
            "additionalProperties": False,
            "patternProperties": {"^[a-z]+$": {"type": "string"}},
        },
    },
    "definitions": {"name": NAME},
}


def faults(value: Any, schema: Mapping[str, Any] = SCHEMA) -> list[Diagnostic]:
    """Return the findings about a profile with this value."""
    return list(check_shape(Source("profiles/teams/a.yaml", b"", value), schema))


def only(value: Mapping[str, Any]) -> Diagnostic:
    (diagnostic,) = faults({"contact": "abcd", **value})
    return diagnostic


@pytest.mark.parametrize(
    ("value", "rule", "place", "message", "hint"),
    [
        ({"gpu": 1}, "unknown-key", (("gpu",), True), "unknown key `gpu`", "did you mean `gpus`?"),
        (
            {"gpus": "8"},
            "wrong-type",
            (("gpus",), False),
            "`gpus` takes a whole number, not the text `8`",
            "",
        ),
        (
            {"gpus": True},
            "wrong-type",
            (("gpus",), False),
            "`gpus` takes a whole number, not `true`",
            "",
        ),
        (
            {"runtimes": {}},
            "wrong-type",
            (("runtimes",), False),
            "`runtimes` takes a list, not a mapping",
            "",
        ),
        (
            {"labels": []},
            "wrong-type",
            (("labels",), False),
            "`labels` takes text or a whole number, not a list",
            "",
        ),
        (
            {"name": 3},
            "wrong-type",
            (("name",), False),
            "`name` takes text, not the number `3`",
            "",
        ),
        (
            {"gpus": None},
            "empty-value",
            (("gpus",), False),
            "empty value: `gpus` takes a whole number",
            "",
        ),
        (
            {"format": None},
            "empty-value",
            (("format",), False),
            "empty value: `format` takes `1`",
            "",
        ),
        ({"format": 2}, "wrong-value", (("format",), False), "`format` takes `1`, not `2`", ""),
        (
            {"state": "drained"},
            "wrong-value",
            (("state",), False),
            "`state` takes one of `active`, `draining`, not `drained`",
            "did you mean `draining`?",
        ),
        (
            {"name": "A"},
            "wrong-value",
            (("name",), False),
            "`name` takes lower-case letters, not `A`",
            "",
        ),
        (
            {"code": "x"},
            "wrong-value",
            (("code",), False),
            "`code` takes text of the form `^[0-9]+$`, not `x`",
            "",
        ),
        ({"gpus": 0}, "out-of-range", (("gpus",), False), "`gpus` is 0; it must be at least 1", ""),
        ({"gpus": 9}, "out-of-range", (("gpus",), False), "`gpus` is 9; it must be at most 8", ""),
        (
            {"contact": "ab"},
            "out-of-range",
            (("contact",), False),
            "`contact` takes at least 3 characters; it has 2",
            "",
        ),
        (
            {"runtimes": []},
            "out-of-range",
            (("runtimes",), False),
            "`runtimes` takes at least 1 item; it has 0",
            "",
        ),
        (
            {"quota": {"a": {}}},
            "out-of-range",
            (("quota", "a"), False),
            "`a` takes at least 1 key; it has 0",
            "",
        ),
        (
            {"spared": {"until": 1}},
            "out-of-range",
            (("spared",), False),
            "`spared` takes at least 2 keys; it has 1",
            "It has none of `pods`, `queues`.",
        ),
        (
            {"runtimes": ["a", "b", "a"]},
            "duplicate-item",
            (("runtimes", 2), False),
            "`a` is listed twice in `runtimes`",
            "",
        ),
        (
            {"runtimes": ["A"]},
            "wrong-value",
            (("runtimes", 0), False),
            "item 1 of `runtimes` takes lower-case",
            "",
        ),
        (
            {"quota": {"B": {"x": 1}}},
            "bad-name",
            (("quota", "B"), True),
            "the name `B` is not lower-case letters",
            "",
        ),
        (
            {"libraries": {"B": "1"}},
            "bad-name",
            (("libraries", "B"), True),
            "the name `B` is not text of the form",
            "",
        ),
    ],
)
def test_each_kind_of_fault_has_its_rule_place_and_message(
    value: Any, rule: str, place: tuple[tuple[Any, ...], bool], message: str, hint: str
) -> None:
    diagnostic = only(value)
    assert diagnostic.rule == f"shape/{rule}"
    path, on_key = place
    assert diagnostic.at == Pointer("profiles/teams/a.yaml", path, on_key=on_key)
    assert diagnostic.message.startswith(message)
    assert diagnostic.hint.startswith(hint)


SIZE = {
    "type": "string",
    "pattern": "^[1-9][0-9]*(Mi|Gi)$",
    "x-message": "a number with Mi or Gi",
    "examples": ["96Gi"],
}
FORMS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "memory": SIZE,
        "home": {
            "type": ["string", "object"],
            "x-message": "a size or a bucket",
            "examples": ["2Ti"],
        },
        "version": {
            "type": "string",
            "pattern": "^[0-9.]+$",
            "x-message": "a version",
            "examples": ["12.6"],
        },
        "end": {
            "type": "string",
            "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
            "format": "date",
            "x-message": "a date",
        },
        "title": {"type": "string", "format": "line"},
        "state": {"type": "string", "enum": ["active"]},
        "name": NAME,
        "names": {"type": "object", "propertyNames": NAME},
        "known": {"type": "object", "propertyNames": {"enum": ["first", "second"]}},
        "more": {
            "type": "object",
            "additionalProperties": False,
            "patternProperties": {"^[a-z]+$": {}},
        },
    },
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("value", "rule", "message", "hint"),
    [
        (
            {"memory": 64},
            "wrong-type",
            "`memory` takes a number with Mi or Gi; `64` has no unit",
            "Write `64Gi`.",
        ),
        (
            {"known": {"frist": 1}},
            "unknown-key",
            "unknown key `frist`",
            "did you mean `first`?",
        ),
        (
            {"memory": "64"},
            "wrong-value",
            "`memory` takes a number with Mi or Gi; `64` has no unit",
            "Write `64Gi`.",
        ),
        (
            {"home": 2},
            "wrong-type",
            "`home` takes a size or a bucket; `2` has no unit",
            "Write `2Ti`.",
        ),
        ({"memory": 0}, "wrong-type", "`memory` takes text, not the number `0`", ""),
        ({"memory": True}, "wrong-type", "`memory` takes text, not `true`", ""),
        ({"version": 12}, "wrong-type", "`version` takes text, not the number `12`", ""),
        (
            {"end": "2027-02-30"},
            "wrong-value",
            "`end` takes a date of the calendar, not `2027-02-30`: 2027-02 has",
            "",
        ),
        (
            {"end": "2027-02-00"},
            "wrong-value",
            "`end` takes a date of the calendar, not `2027-02-00`: 2027-02 has",
            "",
        ),
        (
            {"end": "2027-13-01"},
            "wrong-value",
            "`end` takes a date of the calendar, not `2027-13-01`: there is",
            "",
        ),
        (
            {"end": "2027-00-01"},
            "wrong-value",
            "`end` takes a date of the calendar, not `2027-00-01`: there is",
            "",
        ),
        (
            {"end": "0000-01-01"},
            "wrong-value",
            "`end` takes a date of the calendar, not `0000-01-01`: there is",
            "",
        ),
        ({"end": "2027-2-3"}, "wrong-value", "`end` takes a date, not `2027-2-3`", ""),
        (
            {"title": "a\nb"},
            "wrong-value",
            "`title` takes one line of text; it holds a line break after 1 char",
            "",
        ),
        (
            {"title": "ab\tc"},
            "wrong-value",
            "`title` takes one line of text; it holds a tab after 2 characters",
            "",
        ),
        (
            {"title": "The n\u043ede"},
            "wrong-value",
            (
                "`title` mixes scripts in one word; it holds U+043E CYRILLIC SMALL LETTER O among "
                "Latin letters"
            ),
            "",
        ),
        (
            {"title": "\u039fpenMPI"},
            "wrong-value",
            "`title` mixes scripts in one word; it holds U+039F GREEK",
            "",
        ),
        (
            {"name": "n\u043ede"},
            "wrong-value",
            "`name` takes lower-case letters, not `n\u043ede`; it holds U+043E",
            "",
        ),
        (
            {"names": {"n\u043e": 1}},
            "bad-name",
            "the name `n\u043e` is not lower-case letters; it holds U+043E",
            "",
        ),
        ({"more": {"n\u043e": 1}}, "bad-name", "the name `n\u043e` is not text of the form", ""),
        (
            {"st\u0430te": "x"},
            "unknown-key",
            "unknown key `st\u0430te`; it holds U+0430 CYRILLIC SMALL LETTER A",
            "",
        ),
        (
            {"state": "\u0430ctive"},
            "wrong-value",
            "`state` takes `active`, not `\u0430ctive`; it holds U+0430",
            "",
        ),
    ],
)
def test_fault_of_a_text_names_what_is_wrong(
    value: Any, rule: str, message: str, hint: str
) -> None:
    """It names the missing unit, the date, the line break or the code point of a look-alike."""
    (diagnostic,) = faults(value, FORMS)
    assert diagnostic.rule == f"shape/{rule}"
    assert diagnostic.message.startswith(message)
    assert diagnostic.hint.startswith(hint)


@pytest.mark.parametrize(
    "value",
    [
        {"end": "2028-02-29"},
        {"end": "2027-12-31"},
        {"title": "Open MPI 5, \u0434\u043b\u044f \u0432\u0441\u0435\u0445"},
        {"title": "\u00c9quipe \u0394t, 10 \u00b5s"},
        {"title": "\u65e5\u672c"},
    ],
)
def test_leap_days_and_any_script_are_valid(value: Any) -> None:
    """A formula may mix scripts if no word looks Latin."""
    assert faults(value, FORMS) == []


def test_missing_key_is_reported_at_its_mapping() -> None:
    (diagnostic,) = faults({})
    assert (diagnostic.rule, diagnostic.at.path) == ("shape/missing-key", ())
    assert "`contact`" in diagnostic.message


def test_key_that_needs_another_is_reported_at_its_mapping() -> None:
    """Each missing key once, whatever needs it; the keys alone need nothing."""
    schema = {"dependencies": {"until": ["reason"], "then": ["until", "reason"]}}

    assert [each.message for each in faults({"then": 4}, schema)] == [
        "the key `reason` is missing",
        "the key `until` is missing",
    ]
    assert faults({"until": "a", "reason": "b"}, schema) == faults([], schema) == []


def test_valid_profile_has_no_fault() -> None:
    assert (
        faults({"contact": "abcd", "gpus": 8, "quota": {"a": {"x": 1}}, "libraries": {"mpi": "5"}})
        == []
    )


def test_unread_profile_is_reported_by_the_reader_only() -> None:
    assert faults(None) == []


def test_list_as_root_is_one_fault() -> None:
    (diagnostic,) = faults(["a"])
    assert diagnostic.message == "the profile takes a mapping, not a list"


def test_value_of_a_wrong_type_is_one_fault() -> None:
    """It is not also reported as none of the allowed values."""
    assert [each.rule for each in faults({"contact": "abcd", "state": 5})] == ["shape/wrong-type"]


def test_value_that_the_reader_refuses_is_not_reported_again() -> None:
    """YAML readers disagree on `2.5` and `yes`, so these have no type to check."""
    source, found = read("profiles/teams/a.yaml", b"contact: abcd\ngpus: 2.5\nstate: yes\n")
    assert [each.rule for each in found] == ["shape/ambiguous-scalar"] * 2
    assert list(check_shape(source, SCHEMA)) == []


@pytest.mark.parametrize(
    "value",
    [
        {"name": "abc\n"},
        {"quota": {"abc\n": {"x": 1}}},
        {"libraries": {"abc\n": "1"}},
        {"code": "1\n"},
    ],
)
def test_pattern_matches_to_the_end(value: Any) -> None:
    """A newline after a valid name is refused, in values and in keys."""
    assert only(value).rule in {"shape/wrong-value", "shape/bad-name"}


def test_all_faults_are_reported_in_document_order() -> None:
    order = ("state", "gpus", "name")
    marks: dict[tuple[Step, ...], Mark] = {
        (key,): Mark(line, 7, 8) for line, key in enumerate(order, 1)
    }
    source = Source("a.yaml", b"", {"contact": "abcd", "state": "x", "gpus": 0, "name": "A"}, marks)
    assert [each.at.path for each in check_shape(source, SCHEMA)] == [(key,) for key in order]


def test_message_cuts_and_escapes_the_value() -> None:
    """A message can neither flood nor control a terminal."""
    message = only({"name": "\x1b[31m" + "x" * 500}).message
    assert message.isprintable()
    assert len(message) < 150


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(["a", "nlp", "all\n"])
)
PLAIN = st.recursive(
    SCALARS, lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=5), each)
)
TEAM: dict[str, Any] = {
    "contact": "nlp-oncall@example.com",
    "groups": {"admin": ["nlp-leads"], "user": ["nlp"]},
    "runtimes": ["openmpi-cuda"],
    "quota": {"prod-east": {"dgx-h100": {"nodes": 8, "borrow": 8}}},
    "largestJob": {"nodes": 16},
}


@pytest.mark.thorough
@given(
    st.sampled_from(sorted(TEAM)), PLAIN, st.dictionaries(st.text(max_size=5), PLAIN, max_size=2)
)
@settings(deadline=None, max_examples=150)
def test_check_shape_agrees_with_second_implementation(
    key: str, value: Any, more: dict[str, Any]
) -> None:
    """A profile has faults exactly when an independent validator refuses it too."""
    profile = {**copy.deepcopy(TEAM), key: value, **more}
    second = jsonschema_rs.Draft7Validator(profile_schema("team"), offline=True)
    assert (faults(profile, profile_schema("team")) == []) is second.is_valid(profile)


def test_check_shape_fetches_nothing(tmp_path: Path) -> None:
    """A reference out of the schema is an error, never a request or a read of a file."""
    (tmp_path / "other.json").write_text("{}", encoding="utf-8")
    for reference in ("http://192.0.2.1/schema.json", (tmp_path / "other.json").as_uri()):
        with pytest.raises(Exception, match="Unresolvable"):
            faults({"a": 1}, {"properties": {"a": {"$ref": reference}}})
