"""Alerts of Argo CD: the cluster is not what the repository says."""

from __future__ import annotations

from trainyard.render.alerts.alert import Alert

_ARGOCD = ("argocd",)
_TEAM = "* on (name) group_left (team) trainyard:application:team"
_GET = "`{cli} -n {argocd} get application NAME -o yaml`"

ALERTS = (
    Alert(
        name="TrainyardApplicationOutOfSync",
        sources=_ARGOCD,
        expr='max by (name) (argocd_app_info{sync_status="OutOfSync"}) '
        f'{_TEAM}{{sync="automatic"}}',
        hold="30m",
        severity="warning",
        for_team=True,
        summary="Application {{ $labels.name }} is OutOfSync for 30 min",
        meaning="Argo CD syncs this Application by itself, and some object still differs from the "
        "repository: a sync fails, or a deletion waits for an approval.",
        look=(f"{_GET}: `status.operationState.message` and `status.resources`.",),
        fix=(
            "Correct the profile that the message is about.",
            "If it waits for an approval, approve it or restore what is to be deleted.",
        ),
    ),
    Alert(
        name="TrainyardApplicationDegraded",
        sources=_ARGOCD,
        expr='max by (name, health_status) (argocd_app_info{health_status=~"Degraded|Missing"}) '
        f"{_TEAM}",
        hold="15m",
        severity="warning",
        for_team=True,
        summary="Application {{ $labels.name }} is {{ $labels.health_status }}",
        meaning="An object of it does not work, for example a queue, a secret or a claim.",
        look=(f"{_GET}: `status.resources` with their `health`.",),
        fix=("Look at the object that is not healthy; its own conditions say why.",),
    ),
)
