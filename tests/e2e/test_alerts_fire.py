"""The alerts fire on control planes whose real Prometheus watches them, and then resolve."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from tests.e2e.alert_scenarios import (
    ALONE,
    DELIVERED,
    LONG,
    SCENARIOS,
    Expected,
    Scenario,
)
from tests.e2e.git import delivered
from tests.e2e.setup import GITOPS, NEW, OLD
from tests.e2e.stage import Stage
from tests.e2e.watched import Watched, watched

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

FACTOR = 60
"""By which the times of the rules are divided: each minute is a second."""
_SLOW_FACTOR = 30
"""The same where what is counted takes longer than a minute."""
_LONG_FACTOR = 600
"""The same where a rule looks back by 12 hours."""
_INTERVAL = "2s"
"""Of scrapes, which a busy machine does not always answer within a second."""
_PATIENCE = 300.0
_FIRED = 'last_over_time(ALERTS{{alertstate="firing"}}[{}s])'

both = pytest.mark.parametrize("stage", [NEW, OLD], indirect=True, ids=lambda setup: setup.name)


@both
def test_alerts_fire_and_resolve(stage: Stage, tmp_path: Path) -> None:
    """Each fires with its labels while its scenario lasts, no other does, and it is gone then."""
    with watched(stage, tmp_path, FACTOR, _INTERVAL) as found:
        _fire_and_resolve(found, SCENARIOS)
        named = {name for expected in SCENARIOS.values() for name in expected}
        fired = found.prometheus.query(_FIRED.format(3600))
        assert {each.labels["alertname"] for each in fired} == named


@both
@pytest.mark.parametrize("scenario", ALONE, ids=lambda scenario: scenario.__name__)
def test_alert_fires_alone_and_resolves(stage: Stage, scenario: Scenario, tmp_path: Path) -> None:
    with watched(stage, tmp_path, _SLOW_FACTOR, _INTERVAL) as found:
        _fire_and_resolve(found, {scenario: ALONE[scenario]})


@pytest.mark.parametrize("stage", [NEW], indirect=True, ids=lambda setup: setup.name)
def test_alert_of_half_a_day_fires_and_resolves(stage: Stage, tmp_path: Path) -> None:
    with watched(stage, tmp_path, _LONG_FACTOR, _INTERVAL) as found:
        _fire_and_resolve(found, LONG)


@pytest.mark.parametrize("stage", [GITOPS], indirect=True, ids=lambda setup: setup.name)
def test_alerts_of_the_delivery_fire_and_resolve(stage: Stage, tmp_path: Path) -> None:
    with delivered(stage) as git, watched(stage, tmp_path, FACTOR, _INTERVAL) as found:
        for scenario, expected in DELIVERED.items():
            _judge(found, [scenario(git)], expected)


def _fire_and_resolve(found: Watched, scenarios: Mapping[Scenario, Expected]) -> None:
    expected = {name: labels for each in scenarios.values() for name, labels in each.items()}
    _judge(found, [scenario(found) for scenario in scenarios], expected)


def _judge(found: Watched, scenarios: list[Generator[None]], expected: Expected) -> None:
    """Begin scenarios in their order and end them; the alerts must fire between, and only there."""
    assert not _firing(found, expected)
    begun = monotonic()
    with _happening(scenarios):
        assert _all_fired(found, expected, begun), _lacking(found, expected)
    assert _none_fires(found, expected), _firing(found, expected)


@contextmanager
def _happening(scenarios: list[Generator[None]]) -> Iterator[None]:
    """Begin scenarios and end them; after a failure, what they started in the background ends."""
    with ExitStack() as started:
        for each in scenarios:
            started.enter_context(closing(each))
            next(each)
        yield
        for each in scenarios:
            assert next(each, "ended") == "ended"


def _all_fired(found: Watched, expected: Expected, begun: float) -> bool:
    """Wait until alerts have fired; some end by themselves while a later scenario begins."""

    def fired() -> bool:
        seen = found.prometheus.query(_FIRED.format(int(monotonic() - begun) + 1))
        return all(
            any({"alertname": name, **labels}.items() <= each.labels.items() for each in seen)
            for name, labels in expected.items()
        )

    return found.prometheus.until(fired, _PATIENCE)


def _none_fires(found: Watched, expected: Expected) -> bool:
    """Wait until none of some alerts fires any more."""
    return found.prometheus.until(lambda: not _firing(found, expected), _PATIENCE)


def _lacking(found: Watched, expected: Expected) -> dict[str, Any]:
    """Return what Prometheus has of the alerts that do not fire."""
    lacking = expected.keys() - _firing(found, expected)
    alerts = found.prometheus.alerts()
    return {
        name: [each for each in alerts if each["labels"]["alertname"] == name] for name in lacking
    }


def _firing(found: Watched, expected: Expected) -> set[str]:
    """Return which of some alerts fire, each with its labels."""
    return {name for name, labels in expected.items() if found.prometheus.firing(name, **labels)}
