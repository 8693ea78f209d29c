"""Find prices in a currency that ISO 4217 does not have."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.money import CURRENCIES
from trainyard.model.nearest import nearest
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="capacity/unknown-currency",
    severity=Severity.ERROR,
    summary="A price is in a currency of ISO 4217.",
    why="""
        The price is a label of metrics and a column of reports. No program that adds up costs knows
        the currency, and how many digits its smallest unit has is a guess.
    """,
    fix="Write the three capital letters of the currency, e.g. `nodeHour: 98.32 USD`.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site in platform.sites:
        for pool in site.cluster.pools:
            if pool.price and pool.price.currency not in CURRENCIES:
                currency = pool.price.currency
                near = nearest(currency, sorted(CURRENCIES))
                hint = f"did you mean `{near}`?" if near else ""
                message = f"ISO 4217 has no currency `{currency}`"
                yield RULE.at(pool.at / "nodeHour", message, hint=hint)


CHECK = Check(RULE, find)
