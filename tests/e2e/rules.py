"""The rules of a rendered tree, as Prometheus reads them, and with shorter times."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from trainyard.model.manifest import Manifest

Group = dict[str, Any]
_MILLISECONDS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_TIME = re.compile(r"(?<=\[)\d+[smhd](?=\])|(?<=offset )\d+[smhd]\b")
_LABEL = re.compile(r"\$labels\.(\w+)")


def groups(manifests: Iterable[Manifest]) -> list[Group]:
    """Return the groups of all PrometheusRules of a tree, the facts first."""
    found = [
        group
        for each in manifests
        if each.kind.name == "PrometheusRule"
        for group in each.body["spec"]["groups"]
    ]
    return sorted(found, key=lambda each: each["name"] != "trainyard-facts")


def rules(found: Iterable[Group]) -> Iterator[dict[str, Any]]:
    """Yield the rules of some groups."""
    for group in found:
        yield from group["rules"]


def shortened(found: Iterable[Group], factor: int) -> list[Group]:
    """Return groups in which each time is divided: ``for``, ranges, offsets and intervals.

    Thresholds stay. A rate is by second, so one that is compared with a number is another rule.
    """
    return [
        {**group, "interval": _divided(group["interval"], factor), "rules": _rules(group, factor)}
        for group in json.loads(json.dumps([*found]))
    ]


def _rules(group: Group, factor: int) -> list[dict[str, Any]]:
    def shorter(match: re.Match[str]) -> str:
        return _divided(match[0], factor)

    found = [{**rule, "expr": _TIME.sub(shorter, rule["expr"])} for rule in group["rules"]]
    return [
        {**rule, "for": _divided(rule["for"], factor)} if "for" in rule else rule for rule in found
    ]


def _divided(time: str, factor: int) -> str:
    return f"{int(time[:-1]) * _MILLISECONDS[time[-1]] // factor}ms"


def shown_labels(rule: dict[str, Any]) -> frozenset[str]:
    """Return the labels of a result that an alert shows, without those that it states itself."""
    texts = " ".join(rule.get("annotations", {}).values())
    return frozenset(_LABEL.findall(texts)) - {*rule.get("labels", {})}
