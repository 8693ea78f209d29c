"""Alerts of volumes: kubelet measures those that some pod mounts."""

from __future__ import annotations

from trainyard.model.monitoring import KUBELET
from trainyard.render.alerts.alert import Alert

_USED = "trainyard:claim:used_ratio"
_CLAIM = "Claim {{ $labels.persistentvolumeclaim }} of {{ $labels.namespace }}"
_LOOK = (
    "`{cli} -n NAMESPACE describe persistentvolumeclaim CLAIM`: its class and who mounts it.",
    f"The metric `{_USED}` has the used part over time.",
)
_FIX = (
    "Its team deletes old checkpoints and data, from a job or workbench that mounts it.",
    "If the team needs more, raise its size under `storage` of the team's profile.",
)

ALERTS = (
    Alert(
        name="TrainyardVolumeFillsUp",
        sources=(KUBELET,),
        expr=f"({_USED} > 0.85) <= 0.95",
        hold="15m",
        severity="warning",
        for_team=True,
        summary=f"{_CLAIM} is more than 85 % full",
        meaning="Jobs of the namespace write their checkpoints there. When it is full, they fail.",
        look=_LOOK,
        fix=_FIX,
    ),
    Alert(
        name="TrainyardVolumeFull",
        sources=(KUBELET,),
        expr=f"{_USED} > 0.95",
        hold="5m",
        severity="critical",
        for_team=True,
        summary=f"{_CLAIM} is more than 95 % full",
        meaning="The next checkpoints of running jobs do not fit. A job that can't write its "
        "checkpoint fails, and what it computed since the last one is lost.",
        look=_LOOK,
        fix=_FIX,
    ),
)
