"""Compare the rate of the rails with what their card can do."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.card import CARDS, SPEEDS, VENDOR
from trainyard.model.hardware import Hardware
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware

_SLOWEST_PART = 4
"""A rail at less than a quarter of its card's speed is a slip: HDR100 and NDR200 are halves."""

RULE = Rule(
    id="fabric/odd-rate",
    severity=Severity.WARNING,
    summary="A rail's rate is a speed of its card, and not less than a quarter of the fastest.",
    why="""
        Alerts and acceptance tests expect this rate: with a lower one they pass a rail that lost
        most of its speed, and with a higher one they fail on every node.
    """,
    fix="""
        Set `rate` to the Gb/s of one rail, which `ibstat` or `ethtool <interface>` shows on such a
        node; if it is right, waive this.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for each in hardware(platform):
        if each.rails and (problem := _problem(each)):
            message = f"the rails of a `{each.name}` have {each.link_rate} Gb/s, but {problem}"
            notes = [Note("the card", each.stated("nic", "device"))]
            yield RULE.at(each.edited("nic", "rate"), message, notes=notes)


def _problem(each: Hardware) -> str:
    """Return why no port of the card has the rate; empty if one may."""
    if each.link_rate not in SPEEDS:
        return "no port has this speed"
    card = CARDS.get(each.nic_device) if each.nic_vendor == VENDOR else None
    if card is None or card.fastest // _SLOWEST_PART <= each.link_rate <= card.fastest:
        return ""
    return f"a {card.name} has up to {card.fastest} Gb/s"


CHECK = Check(RULE, find)
