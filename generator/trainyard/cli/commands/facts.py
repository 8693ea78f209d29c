"""``trainyard facts``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from trainyard.cli import document, findings
from trainyard.cli.console import printable
from trainyard.cli.exits import Exit
from trainyard.cli.formats import Output, deliver
from trainyard.cli.live import context_option, facts_of, from_option, site_of
from trainyard.cli.options import (
    complete_cluster,
    format_option,
    need_profiles,
    places,
    profiles_option,
)
from trainyard.generation.generate import check
from trainyard.model.facts import Facts
from trainyard.model.quantity import counted


@click.command("facts")
@click.argument("cluster", shell_complete=complete_cluster)
@context_option
@from_option
@profiles_option
@format_option("json")
def command(
    cluster: str,
    context: str,
    files: tuple[Path, ...],
    profiles: Path,
    formats: tuple[Output, ...],
) -> int:
    """Read what the checks of CLUSTER need, and nothing else.

    The cluster is only read. No Secret, no pod, no value of a variable and no token is in the
    result. Keep it with `--format json:FILE`, for `preflight`, `release new --facts`,
    `diff --jobs` and `add hardware --from`. What can't be read is listed, with the reason.
    """
    need_profiles(profiles)
    checked = check(profiles)
    if checked.platform is None:
        found = findings.Findings(checked.diagnostics, places(checked.profiles, profiles))
        deliver(
            formats,
            "never",
            lambda _: findings.text(found, colour=False),
            {"json": lambda: document.report("findings", found)},
        )
        return Exit.FINDINGS
    facts = facts_of(site_of(checked.platform, cluster), context, files)
    deliver(
        formats,
        "never",
        lambda _: "\n".join(map(printable, _lines(facts))),
        {"json": lambda: document.envelope("facts", facts)},
    )
    return Exit.FINE


def _lines(facts: Facts) -> Iterator[str]:
    """Yield where the facts come from, how many there are, and what could not be read."""
    kinds = {body["kind"] for body in facts.objects}
    asked = f" of {facts.server}" if facts.server else ""
    version = f", Kubernetes {facts.kubernetes}" if facts.kubernetes else ""
    read = f"{counted(len(facts.objects), 'object')} of {counted(len(kinds), 'kind')}"
    yield f"{facts.cluster}: {read}{asked}{version}"
    yield from (f"not read: {why}" for why in facts.skipped)
    by_reason: dict[str, list[str]] = {}
    for each in facts.unread:
        by_reason.setdefault(each.reason, []).append(each.resource)
    yield from (f"not read, {why}: {', '.join(names)}" for why, names in by_reason.items())
