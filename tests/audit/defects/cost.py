"""Defects that the audit of costs must find."""

from __future__ import annotations

from typing import Any

import yaml

from tests.audit import cost
from tests.audit.defects.defect import LAB, PROD, Defect
from tests.audit.tree import ROOT

_FILE = "platform/prometheusrule-trainyard-facts.yaml"


def _rule(cluster: str, record: str, **labels: str) -> tuple[str | int, ...]:
    """Return the path of the rule that writes a series."""
    rules = yaml.safe_load((ROOT / "overlays" / cluster / _FILE).read_bytes())
    found = rules["spec"]["groups"][0]["rules"]
    (index,) = [
        i
        for i, each in enumerate(found)
        if each["record"] == record and labels.items() <= each.get("labels", {}).items()
    ]
    return ("spec", "groups", 0, "rules", index)


def _defect(cluster: str, path: tuple[str | int, ...], value: Any = None) -> Defect:
    return Defect(cost.series_of_cost_follow_the_profiles, _FILE, path, value, cluster)


_PRICE = _rule(PROD, "trainyard:pool:node_hour_price", pool="dgx-h100")
_NLP = _rule(PROD, "trainyard:team:promised_nodes", team="nlp")
_CENTER = _rule(PROD, "trainyard:team:cost_center", team="nlp")
_SHARE = _rule(LAB, "trainyard:team:promised_nodes", team="biology")
_CPU = _rule(LAB, "trainyard:pool:node_capacity", pool="cpu-shared")

DEFECTS = (
    _defect(PROD, (*_PRICE, "expr"), "vector(69)"),
    _defect(PROD, (*_PRICE, "labels", "currency"), "EUR"),
    _defect(PROD, _NLP),
    _defect(PROD, (*_NLP, "expr"), "vector(9)"),
    _defect(PROD, (*_CENTER, "labels", "cost_center"), "RES-101"),
    _defect(LAB, (*_SHARE, "expr"), "vector(8 / 128)"),
    _defect(LAB, (*_CPU, "expr"), "vector(252000)"),
)
