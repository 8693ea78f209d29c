"""Defects that the audits of delivery must find."""

from __future__ import annotations

from tests.audit import delivery
from tests.audit.defects.defect import PORT, QUEUE, Defect

_SET = "applicationset-prod-east-teams.yaml"
_PROJECT = "appproject-prod-east-team-nlp.yaml"
_OPTIONS = ("metadata", "annotations", "argocd.argoproj.io/sync-options")

DEFECTS = (
    Defect(
        delivery.argo_cd_may_write_every_kind,
        "clusterrole-trainyard-delivery-prod-east.yaml",
        ("rules", 0),
    ),
    Defect(
        delivery.no_prune_needs_confirmation, "namespace-team-nlp.yaml", _OPTIONS, "Prune=confirm"
    ),
    Defect(delivery.state_is_kept, "teams/nlp/persistentvolumeclaim-scratch.yaml", _OPTIONS),
    Defect(delivery.cluster_queues_are_in_the_last_wave, QUEUE, ("metadata", "annotations")),
    Defect(delivery.node_objects_are_synced_by_hand, PORT, ("metadata", "annotations")),
    Defect(delivery.node_objects_are_synced_by_hand, PORT, ("kind",), "ConfigMap"),
    Defect(
        delivery.node_objects_are_synced_by_hand,
        "application-prod-east-nodes.yaml",
        ("spec", "syncPolicy", "automated"),
        {"selfHeal": True},
    ),
    Defect(
        delivery.operators_are_synced_before_their_kinds,
        "kueue-cluster.yaml",
        ("metadata", "annotations"),
        {},
    ),
    Defect(
        delivery.operators_are_synced_before_their_kinds,
        "application-prod-east-platform.yaml",
        ("spec", "syncPolicy", "syncOptions"),
        ["ServerSideApply=true"],
    ),
    Defect(
        delivery.application_sets_keep_their_applications,
        _SET,
        ("spec", "syncPolicy"),
        {"applicationsSync": "sync"},
    ),
    Defect(delivery.application_sets_keep_their_applications, _SET, ("spec", "preservedFields")),
    Defect(delivery.application_sets_keep_their_applications, _SET, ("spec", "goTemplateOptions")),
    Defect(delivery.projects_are_narrow, _PROJECT, ("metadata", "finalizers")),
    Defect(delivery.projects_are_narrow, _PROJECT, ("spec", "destinations", 0, "namespace"), "*"),
    Defect(delivery.projects_are_narrow, _PROJECT, ("spec", "clusterResourceWhitelist", 0, "name")),
    Defect(
        delivery.applications_stay_in_their_projects,
        _PROJECT,
        ("spec", "sourceRepos", 0),
        "https://other.example.com",
    ),
    Defect(
        delivery.applications_stay_in_their_projects,
        _SET,
        ("spec", "template", "spec", "project"),
        "default",
    ),
    Defect(
        delivery.projects_list_the_kinds_of_their_unit,
        _PROJECT,
        ("spec", "namespaceResourceWhitelist", 1),
    ),
    Defect(
        delivery.projects_list_the_kinds_of_their_unit,
        _PROJECT,
        ("spec", "namespaceResourceWhitelist", 1, "kind"),
        "Secret",
    ),
    Defect(delivery.every_object_is_listed, "teams/nlp/kustomization.yaml", ("resources", 0)),
)
