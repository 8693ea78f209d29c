"""Alerts of what arrives on the cluster: objects by Argo CD, Secrets from their stores."""

from __future__ import annotations

from trainyard.model.monitoring import EXTERNAL_SECRETS
from trainyard.render.alerts.alert import Alert, of_namespace, with_namespace

_ARGOCD = ("argocd",)
_TEAM = "* on (name) group_left (team) trainyard:application:team"
_GET = "`{cli} -n {argocd} get application NAME -o yaml`"

_RETIRED = (
    "If a team was retired, no profile is wrong: Argo CD keeps its AppProject and volumes until "
    "somebody deletes them, as step 4 of Trainyard's page *Retire a team* says."
)
_NOT_READY = 'externalsecret_status_condition{condition="Ready",status="False"}'

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
            _RETIRED,
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
    Alert(
        name="TrainyardSecretNotSynced",
        sources=(EXTERNAL_SECRETS,),
        expr=of_namespace(
            "max by (namespace, name) ("
            + with_namespace(_NOT_READY, "exported_namespace")
            + ") == 1"
        ),
        hold="15m",
        severity="warning",
        for_team=True,
        summary="ExternalSecret {{ $labels.name }} of {{ $labels.namespace }} is not synced",
        meaning="The operator can't read the entry of the secret store. The Secret keeps its old "
        "content or does not exist. Then pods can't pull their image or reach their bucket.",
        look=("`{cli} -n NAMESPACE describe externalsecret NAME`: its last event.",),
        fix=(
            "If the entry is missing, its owner writes it: the README of the cluster lists them.",
            "If the store refuses the access, its owner renews the account of the store.",
        ),
    ),
)
