"""Waivers: the warnings that they hide, their last day, and that errors stay."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard.diagnostics import Diagnostic, Pointer, Severity
from trainyard.generation.waivers import apply_waivers
from trainyard.rules.change.expired_waiver import RULE as EXPIRED_WAIVER
from trainyard.rules.change.unused_waiver import RULE as UNUSED_WAIVER
from trainyard.yaml_io.source import Source

TODAY = "2026-03-01"
RULES, FILES = ("a/x", "a/y", "b/z"), ("profiles/teams/nlp.yaml", "profiles/teams/vision.yaml")
Key = tuple[str, str]
KEYS = st.tuples(st.sampled_from(RULES), st.sampled_from(FILES))


def finding(
    rule: str = RULES[0], file: str = FILES[0], severity: Severity = Severity.WARNING
) -> Diagnostic:
    return Diagnostic(rule, severity, "message", Pointer(file, ("quota",)), "", "")


def waived(
    found: list[Diagnostic], waivers: list[tuple[str, str, str]], today: str = TODAY
) -> list[Diagnostic]:
    """Return what is left after waivers of (rule, file, last day)."""
    entries = [
        {"rule": rule, "file": file, "reason": "r", "owner": "o", "expires": day}
        for rule, file, day in waivers
    ]
    return list(applied(found, entries, today)[0])


def applied(
    found: list[Diagnostic], entries: list[dict[str, Any]], today: str = TODAY
) -> tuple[tuple[Diagnostic, ...], int]:
    """Return what is left after entries of the file, and how many findings are waived."""
    source = Source("profiles/waivers.yaml", b"waivers", {"waivers": entries})
    return apply_waivers(found, source, today)


def rules(found: list[Diagnostic]) -> list[str]:
    return [each.rule for each in found]


@pytest.mark.parametrize("value", [None, {}, {"waivers": []}])
def test_without_waivers_every_finding_stays(value: dict[str, list[str]] | None) -> None:
    """The file is absent, empty or unreadable."""
    found = [finding(), finding(severity=Severity.ERROR)]

    source = Source("profiles/waivers.yaml", b"", value)
    assert apply_waivers(found, source, TODAY) == (tuple(found), 0)


def test_waived_warning_is_hidden() -> None:
    """All warnings of the rule in the file are hidden, wherever in it they are."""
    assert waived([finding(), finding()], [(*_key(), "2026-12-31")]) == []


@pytest.mark.parametrize("other", [(RULES[1], FILES[0]), (RULES[0], FILES[1])])
def test_waiver_of_another_rule_or_file_is_unused(other: Key) -> None:
    """It hides nothing and is reported at its own place."""
    (stays, unused) = waived([finding()], [(*other, "2026-12-31")])

    assert stays == finding()
    assert unused.rule == UNUSED_WAIVER.id
    assert unused.at == Pointer("profiles/waivers.yaml", ("waivers", 0, "rule"))
    assert unused.message == f"there is no finding {other[0]} in {other[1]}"


def test_error_is_never_waived() -> None:
    """The error stays, and the waiver is reported as unused."""
    error = finding(severity=Severity.ERROR)

    assert rules(waived([error], [(*_key(), "2026-12-31")])) == [error.rule, UNUSED_WAIVER.id]


@pytest.mark.parametrize("complete", [True, False])
def test_waiver_that_can_lift_nothing_is_reported(complete: bool) -> None:
    """Also of a rule about a running cluster, which is not looked at; one that lifts is not."""
    entries = [
        {"rule": rule, "file": FILES[0], "reason": "r", "owner": "o", "expires": "2026-12-31"}
        for rule in ("preflight/missing-namespace", "preflight/unchecked")
    ]
    source = Source("profiles/waivers.yaml", b"waivers", {"waivers": entries})
    (unused,), _ = apply_waivers([], source, TODAY, complete=complete)

    assert (unused.rule, unused.at.path) == (UNUSED_WAIVER.id, ("waivers", 0, "rule"))
    assert unused.message == "preflight/missing-namespace is an error that no waiver lifts"


def test_expired_waiver_is_an_error_at_its_date() -> None:
    """It is reported whether or not it still waives something."""
    for found in ([finding()], []):
        (expired,) = waived(found, [(*_key(), "2026-02-28")])

        assert (expired.rule, expired.severity) == (EXPIRED_WAIVER.id, Severity.ERROR)
        assert expired.at == Pointer("profiles/waivers.yaml", ("waivers", 0, "expires"))
        assert expired.message.endswith("ended on 2026-02-28")


@given(st.dates(date(2000, 1, 2), date(2099, 12, 30)), st.integers(-400, 400))
def test_waiver_is_valid_up_to_and_on_its_last_day(last: date, days: int) -> None:
    """Over months, years and leap days."""
    today = last + timedelta(days=days)
    left = waived([finding()], [(*_key(), last.isoformat())], today.isoformat())

    assert rules(left) == ([EXPIRED_WAIVER.id] if days > 0 else [])


def test_without_a_date_no_waiver_has_expired() -> None:
    assert waived([finding()], [(*_key(), "1970-01-01")], today="") == []


def test_second_waiver_of_the_same_warning_is_unused() -> None:
    (unused,) = waived([finding()], [(*_key(), "2026-12-31"), (*_key(), "2027-12-31")])

    assert unused.at == Pointer("profiles/waivers.yaml", ("waivers", 1, "rule"))


@given(
    st.lists(st.tuples(KEYS, st.sampled_from(Severity)), max_size=8),
    st.lists(KEYS, max_size=6, unique=True),
)
def test_exactly_the_waived_warnings_are_hidden(
    found: list[tuple[Key, Severity]], waivers: list[Key]
) -> None:
    """The other findings keep their order; a waiver is reported exactly when it hides nothing."""
    diagnostics = [finding(*key, severity) for key, severity in found]
    left = waived(diagnostics, [(*key, "2026-12-31") for key in waivers])
    warned = {key for key, severity in found if severity is Severity.WARNING}
    stays = [
        finding(*key, severity)
        for key, severity in found
        if severity is Severity.ERROR or key not in waivers
    ]

    assert left[: len(stays)] == stays
    assert [each.at.path[1] for each in left[len(stays) :]] == [
        i for i, key in enumerate(waivers) if key not in warned
    ]


ENTRY = {"rule": RULES[0], "reason": "r", "owner": "o", "expires": "2026-12-31"}


@pytest.mark.parametrize(
    ("at", "stay"),
    [
        ("pools", []),
        ("pools.a", ["pools.ab", "pools.b.nodes"]),
        ("pools.a.nodes", ["pools.a", "pools.ab", "pools.b.nodes"]),
        ("pools.b", ["pools.a", "pools.a.nodes", "pools.ab"]),
    ],
)
def test_waiver_of_a_key_hides_what_is_at_it_or_below(at: str, stay: list[str]) -> None:
    """A pool whose name begins alike, and another pool, are not meant."""
    places = ("pools.a", "pools.a.nodes", "pools.ab", "pools.b.nodes")
    found = [
        Diagnostic(
            RULES[0], Severity.WARNING, "m", Pointer(FILES[0], tuple(each.split("."))), "", ""
        )
        for each in places
    ]
    left, count = applied(found, [{**ENTRY, "file": FILES[0], "at": at}])

    assert [".".join(map(str, each.at.path)) for each in left] == stay
    assert count == len(places) - len(stay)


def test_waiver_of_several_files_is_reported_for_the_file_without_a_finding() -> None:
    """And for the key at which nothing was found."""
    entry = {**ENTRY, "file": list(FILES), "at": "quota"}
    left, count = applied([finding()], [entry])

    assert count == 1
    assert [each.message for each in left] == [f"there is no finding a/x in {FILES[1]} at quota"]


def _key() -> Key:
    return RULES[0], FILES[0]
