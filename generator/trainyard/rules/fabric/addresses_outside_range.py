"""Find address blocks of teams that are outside their fabric's range."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import allocated

RULE = Rule(
    id="fabric/addresses-outside-range",
    severity=Severity.ERROR,
    summary="A team's address block is in the range of its fabric.",
    why="""
        The addresses may belong to another network: only the range was agreed with the owners of
        the networks.
    """,
    fix="Use a free block of the fabric's range.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for site, fabric, holders in allocated(platform):
        cause = (
            f"blocks of teams on fabric `{fabric.name}` of {site.name} are not in "
            f"{fabric.addresses}"
        )
        for team, each in holders:
            if not each.addresses.subnet_of(fabric.addresses):
                message = f"block {each.addresses} of team {team} is not in {fabric.addresses}"
                notes = [Note(f"the range of fabric `{fabric.name}`", fabric.at / "addresses")]
                yield RULE.at(each.at / "addresses", message, notes=notes, cause=cause)


CHECK = Check(RULE, find, every=("fabrics",))
