"""Reactions of Argo CD to the objects that deliver the tree."""

from __future__ import annotations

from functools import partial

from trainyard.change.impact import reach
from trainyard.change.impact.model import Effect
from trainyard.change.impact.reaction import ANY, Reaction, quiet
from trainyard.change.impact.reactions.conditions import takes_off_the_brake

_SEEN = "seen with Argo CD 3.5.7"
_STATE = "argoproj/argo-cd:controller/state.go@v3.5.7"


def _released(change: str, fields: str = ANY) -> Reaction:
    """Return that nobody starts the sync of nodes any more.

    Synced with `platform/`, they have no Application of their own.
    """
    return Reaction(
        kind="Application",
        change=change,
        fields=fields,
        when=takes_off_the_brake,
        condition="and `nodes/` waited for a person until now",
        effect=Effect.UNLOCKS,
        cause="`nodes/` is synced automatically",
        consequence="Argo CD applies at once whatever was merged into `nodes/` and not synced "
        "yet, and every later merge without a person.",
        source=_STATE,
        reach=reach.every_pool,
    )


_changed = partial(Reaction, kind="Application", change="changed", source=_STATE)
_APPLICATION = (
    _released("changed", "spec.syncPolicy.automated"),
    _released("left behind"),
    _changed(
        fields="spec.destination",
        consequence="Argo CD compares and syncs the new place. What is at the old one stays there, "
        "and nothing watches it.",
    ),
    _changed(
        fields="spec.source",
        consequence="Argo CD compares the new folder, and deletes what that folder lacks and what "
        "may be pruned.",
    ),
    *quiet(
        "Application",
        _SEEN,
        created="Argo CD syncs the folder.",
        changed="Argo CD syncs by the new settings. Running jobs stay.",
        deleted="Its objects stay, and nothing watches them.",
    ),
)

_SET = (
    Reaction(
        kind="ApplicationSet",
        change="deleted",
        effect=Effect.DELETES,
        cause="ApplicationSet `{name}` is deleted",
        consequence="Argo CD deletes the Application of every team with its objects. Namespaces "
        "and claims wait for an approval.",
        source=_SEEN,
        reach=reach.everybody,
        lost="data",
    ),
    *quiet(
        "ApplicationSet",
        _SEEN,
        created="Argo CD makes an Application of each team's folder.",
        changed="Argo CD changes the teams' Applications. Running jobs stay.",
    ),
)

_PROJECT = quiet(
    "AppProject",
    _SEEN,
    created="Its Applications can sync.",
    changed="A unit with an object that the project does not permit is not synced at all. Running "
    "jobs stay.",
    deleted="It stays until its Applications are gone.",
)

REACTIONS = (*_APPLICATION, *_SET, *_PROJECT)
