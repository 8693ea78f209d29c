"""What would be refused at the next start, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from trainyard.cli.console import printable
from trainyard.model.differences import few
from trainyard.model.quantity import counted
from trainyard_jobs.admission.replay import Refusal
from trainyard_jobs.workflows.replay import Replayed


def text(cluster: str, replayed: Replayed) -> str:
    """Return one paragraph for each owner's refusal, and a line with the sums."""
    return "\n".join(map(printable, _lines(cluster, replayed)))


def _lines(cluster: str, replayed: Replayed) -> Iterator[str]:
    for each in replayed.new:
        namespace, owner, policy = each.key
        pods = f", {counted(each.pods, 'pod')}" if each.pods else ""
        yield f"{namespace} {owner}{pods}: {policy} would refuse"
        yield from (f"  {message}" for message in each.messages)
    yield from _known(replayed)
    yield from _passed(replayed)
    if replayed.unknown_nodes:
        named = ", ".join(_named(replayed))
        yield f"not judged, who chose the node of {named}: add `--show-managed-fields` to kubectl"
    sums = f"{counted(len(replayed.new), 'refusal')} at the next start"
    known = f", {len(replayed.known)} known" if replayed.known else ""
    yield f"{cluster}: {counted(replayed.judged, 'object')} judged, {sums}{known}"


def _known(replayed: Replayed) -> Iterator[str]:
    """Yield the lines of the list of known refusals that nothing in the dump has."""
    for key in replayed.stale:
        yield f"not refused any more, remove the line: {' '.join(key)}"
    for key in replayed.unjudged:
        yield f"not judged, so keep the line while it is there: {' '.join(key)}"


def _passed(replayed: Replayed) -> Iterator[str]:
    """Yield a line for each reason for which objects are not judged."""
    for reason, kinds in groupby(replayed.passed, lambda each: each.reason):
        named = (f"{each.kind} {few(each.objects)}" for each in kinds)
        yield f"not judged, {reason}: {'; '.join(named)}"


def _named(replayed: Replayed) -> list[str]:
    """Return the pods whose node somebody chose, as far as the dump shows."""
    return sorted({f"{each.namespace} {each.kind}/{each.name}" for each in replayed.unknown_nodes})


def document(cluster: str, replayed: Replayed) -> dict[str, Any]:
    """Return the content of the JSON document."""
    return {
        "cluster": cluster,
        "judged": replayed.judged,
        "refusals": [
            *(_refusal(each, known=False) for each in replayed.new),
            *(_refusal(each, known=True) for each in replayed.known),
        ],
        "stale": [" ".join(key) for key in replayed.stale],
        "unjudged": [" ".join(key) for key in replayed.unjudged],
        "passedOver": [
            {"kind": each.kind, "reason": each.reason, "objects": list(each.objects)}
            for each in replayed.passed
        ],
        "unknownNodes": _named(replayed),
    }


def _refusal(refusal: Refusal, *, known: bool) -> dict[str, Any]:
    namespace, owner, policy = refusal.key
    return {
        "namespace": namespace,
        "owner": owner,
        "policy": policy,
        "messages": list(refusal.messages),
        "pods": refusal.pods,
        "known": known,
    }
