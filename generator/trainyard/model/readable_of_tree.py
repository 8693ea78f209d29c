"""The kinds of which only the objects in namespaces of the tree are kept; part of the table."""

from __future__ import annotations

from trainyard.model import names
from trainyard.model.facts import Resource

_MONITORING = "monitoring.coreos.com"
_SPEC = ("spec",)
ACCOUNTS = Resource(
    "",
    "v1",
    "serviceaccounts",
    "ServiceAccount",
    compared=("automountServiceAccountToken",),
    of_tree=True,
)
CLAIMS = Resource(
    "",
    "v1",
    "persistentvolumeclaims",
    "PersistentVolumeClaim",
    compared=(
        "spec.accessModes",
        "spec.resources.requests",
        "spec.storageClassName",
        "spec.volumeMode",
        "spec.volumeName",
    ),
    is_open=True,
    of_tree=True,
)
LIMITS = Resource("", "v1", "limitranges", "LimitRange", compared=_SPEC, of_tree=True)
QUOTAS = Resource("", "v1", "resourcequotas", "ResourceQuota", compared=_SPEC, of_tree=True)
CONFIG_MAPS = Resource(
    "",
    "v1",
    "configmaps",
    "ConfigMap",
    compared=("data",),
    of_tree=True,
    within=names.SYSTEM_NAMESPACE,
)
NETWORK_POLICIES = Resource(
    "networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", compared=_SPEC, of_tree=True
)
TEAM_BINDINGS = Resource(
    "rbac.authorization.k8s.io",
    "v1",
    "rolebindings",
    "RoleBinding",
    compared=("roleRef", "subjects"),
    of_tree=True,
)
EXTERNAL_SECRETS = Resource(
    "external-secrets.io",
    "v1",
    "externalsecrets",
    "ExternalSecret",
    ("status.conditions.type", "status.conditions.status"),
    # The template may hold any value.
    compared=("spec.dataFrom", "spec.secretStoreRef", "spec.target.name"),
    is_open=True,
    of_tree=True,
)
CRON_JOBS = Resource(
    "batch", "v1", "cronjobs", "CronJob", compared=_SPEC, is_open=True, of_tree=True
)
ATTACHMENTS = Resource(
    "k8s.cni.cncf.io",
    "v1",
    "network-attachment-definitions",
    "NetworkAttachmentDefinition",
    compared=("spec.config",),
    of_tree=True,
)
ALERTS = Resource(
    _MONITORING, "v1", "prometheusrules", "PrometheusRule", compared=("spec.groups",), of_tree=True
)
POD_MONITORS = Resource(
    _MONITORING, "v1", "podmonitors", "PodMonitor", compared=_SPEC, is_open=True, of_tree=True
)
SERVICE_MONITORS = Resource(
    _MONITORING,
    "v1",
    "servicemonitors",
    "ServiceMonitor",
    compared=_SPEC,
    is_open=True,
    of_tree=True,
)
# Of a dashboard only that it is there: its JSON is long.
DASHBOARDS = Resource(
    "grafana.integreatly.org",
    "v1beta1",
    "grafanadashboards",
    "GrafanaDashboard",
    compared=("metadata.labels",),
    is_open=True,
    of_tree=True,
)

OF_TREE = (
    *(ACCOUNTS, CLAIMS, LIMITS, QUOTAS, CONFIG_MAPS, NETWORK_POLICIES, TEAM_BINDINGS),
    *(EXTERNAL_SECRETS, CRON_JOBS, ATTACHMENTS),
    *(ALERTS, POD_MONITORS, SERVICE_MONITORS, DASHBOARDS),
)
