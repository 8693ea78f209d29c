"""Verdicts about TrainJobs as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from trainyard.cli.console import printable
from trainyard.cli.places import Places
from trainyard.model.quantity import counted
from trainyard_jobs.fit.verdict import Check, Link, Standing, Verdict

_ALWAYS_TOLD = frozenset({Link.NAMESPACE, Link.VOLUMES, Link.COMMAND})


def text(verdicts: Sequence[Verdict], places: Places, others: int) -> str:
    """Return one paragraph for each job.

    Args:
        verdicts: in the order of the file.
        places: of the profiles.
        others: number of objects of other kinds in the file.
    """
    paragraphs = ["\n".join(_verdict(verdict, places)) for verdict in verdicts]
    if others:
        paragraphs.append(f"{counted(others, 'object')} of other kinds not judged")
    return "\n\n".join(paragraphs)


def _verdict(verdict: Verdict, places: Places) -> Iterator[str]:
    yield printable(f"{verdict.namespace}/{verdict.job}: {verdict.standing}")
    if verdict.podsets:
        yield f"  pods: {', '.join(f'{podset.role} {podset.count}' for podset in verdict.podsets)}"
    told = [check for check in verdict.checks if _is_told(check, verdict.standing)]
    for check in told:
        yield from _check(check, places)
    for check in verdict.unjudged:
        yield f"  not judged: {check.link}: {printable(check.message)}"
    for way in _help(verdict, told):
        yield f"  = help: {printable(way)}"


def _help(verdict: Verdict, told: Sequence[Check]) -> Iterator[str]:
    """Yield a change of a job that helps, then what else can be done about what is shown."""
    if verdict.change:
        yield " and ".join(verdict.change)
    yield from dict.fromkeys(chain.from_iterable(check.repair for check in told))


def _is_told(check: Check, standing: Standing) -> bool:
    """Return whether a link decides a verdict, or has to be shown of an admitted job.

    A namespace that was assumed is always shown, and so are a command that is bound to fail and a
    claim that is missing.
    """
    if check.standing is Standing.ADMITTED and check.link in _ALWAYS_TOLD:
        return True
    told = Standing.ADMITTED if standing is Standing.IN_PART else standing
    return check.standing is told is not Standing.UNJUDGED


def _check(check: Check, places: Places) -> Iterator[str]:
    yield f"  {check.link}: {printable(check.message)}"
    if check.at is not None:
        yield f"   --> {printable(str(places.find(check.at)))}"
    facts = {"limit": check.limit, "usage": check.usage, "available": check.available}
    for name, value in facts.items():
        if value:
            yield f"  = {name}: {printable(value)}"
