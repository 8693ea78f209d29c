"""The data on where alerts were seen to fire lists each alert and each scenario."""

from __future__ import annotations

from docs.alerts import seen
from tests.e2e import test_states
from tests.e2e.alert_scenarios import ALONE, DELIVERED, LONG, SCENARIOS
from trainyard.render.alerts.rulesets import FAMILIES


def test_each_alert_is_listed_once() -> None:
    data = seen()
    names = {alert.name for alerts in FAMILIES.values() for alert in alerts}
    listed = [alert for place in ("scenario", "test", "cases") for alert in data[place]]
    assert len(listed) == len({*listed})
    assert {*listed} == names
    assert all(data["cases"].values())


def test_tests_that_are_listed_exist() -> None:
    for name in seen()["test"].values():
        assert callable(getattr(test_states, name))


def test_scenarios_fire_what_is_listed() -> None:
    fired = {
        alert: scenario.__name__
        for scenarios in (SCENARIOS, ALONE, LONG, DELIVERED)
        for scenario, alerts in scenarios.items()
        for alert in alerts
    }
    assert fired == seen()["scenario"]
