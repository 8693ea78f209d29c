"""Objects of a dump that no policy is asked about, each with the reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from trainyard_jobs.admission import operated
from trainyard_jobs.admission.bodies import (
    Body,
    Owner,
    controller_of,
    has_started,
    is_over,
    is_trainers,
    owner_of,
)
from trainyard_jobs.admission.made import Dump, Made


@dataclass(frozen=True, slots=True, order=True)
class PassedOver:
    """Objects of one kind that are not judged.

    Args:
        reason: why, in words.
        objects: ``name``, or ``namespace/name``, sorted.
    """

    reason: str
    kind: str
    objects: tuple[str, ...]


def passed_over(dump: Dump, made: Iterable[Made]) -> tuple[PassedOver, ...]:
    """Return what is not judged of a dump, by reason and kind.

    Args:
        dump: the objects.
        made: what is judged of them.
    """
    judged = {each.source for each in made}
    there = set(map(owner_of, dump.bodies))
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for body in dump.bodies:
        owner = owner_of(body)
        if owner not in judged:
            named = "/".join(filter(None, (owner.namespace, owner.name)))
            found[_reason(dump, there, body), owner.kind].add(named)
    return tuple(PassedOver(*key, tuple(sorted(names))) for key, names in sorted(found.items()))


def _reason(dump: Dump, there: Collection[Owner], body: Body) -> str:
    """Return why an object is not judged; the first that holds."""
    above = controller_of(body)
    reasons = (
        (owner_of(body) in dump.tree, "the tree has them"),
        (is_over(body), "ended"),
        (above in there or is_trainers(body), "another object makes them again"),
        (above.kind == "Node", "started by a kubelet"),
        (has_started(body), "started, so Kueue has written into it; `fit` judges its manifest"),
        (_has_template(body), "with templates of pods, and nothing here knows who starts them"),
    )
    return next((reason for holds, reason in reasons if holds), "without templates of pods")


def _has_template(body: Body) -> bool:
    return any(True for _ in operated.templates(body.get("spec")))
