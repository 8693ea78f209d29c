"""The kinds that no tree has, and that its objects depend on; part of the table."""

from __future__ import annotations

from trainyard.model.facts import Resource

_ADMISSION = "admissionregistration.k8s.io"
_CONDITIONS = ("status.conditions.type", "status.conditions.status")
_ARGOCD = tuple(
    f"data[{key}]"
    for key in (
        *("application.resourceTrackingMethod", "installationID"),
        *("resource.exclusions", "resource.inclusions"),
    )
)
"""Of Argo CD's settings no login and no address."""
_WEBHOOK = tuple(
    f"webhooks.{field}"
    for field in (
        *("name", "clientConfig.service.name", "clientConfig.service.namespace"),
        *("failurePolicy", "namespaceSelector", "objectSelector"),
        *("rules.apiGroups", "rules.operations", "rules.resources"),
    )
)
_AUTHORITY = ("webhooks.clientConfig.caBundle",)
_SELECTED = ("podMonitor", "rule", "serviceMonitor")

MUTATING = Resource(
    _ADMISSION,
    "v1",
    "mutatingwebhookconfigurations",
    "MutatingWebhookConfiguration",
    _WEBHOOK,
    digested=_AUTHORITY,
)
VALIDATING = Resource(
    _ADMISSION,
    "v1",
    "validatingwebhookconfigurations",
    "ValidatingWebhookConfiguration",
    _WEBHOOK,
    digested=_AUTHORITY,
)
ENDPOINTS = Resource(
    "discovery.k8s.io",
    "v1",
    "endpointslices",
    "EndpointSlice",
    ("endpoints.conditions.ready",),
)
# Its provider may have an address and a role of the store.
SECRET_STORES = Resource(
    "external-secrets.io",
    "v1",
    "clustersecretstores",
    "ClusterSecretStore",
    ("spec.conditions", *_CONDITIONS),
)
PROMETHEUSES = Resource(
    "monitoring.coreos.com",
    "v1",
    "prometheuses",
    "Prometheus",
    tuple(f"spec.{each}{end}" for each in _SELECTED for end in ("Selector", "NamespaceSelector")),
)
ARGOCD_FILES = tuple(
    Resource("", "v1", "configmaps", "ConfigMap", _ARGOCD, only=(namespace, "argocd-cm"))
    for namespace in ("argocd", "openshift-gitops")
)
SCIENCE_CLUSTERS = Resource(
    "datasciencecluster.opendatahub.io",
    "v1",
    "datascienceclusters",
    "DataScienceCluster",
    tuple(
        f"spec.components.kueue.{field}"
        for field in ("autoCreateQueues", "defaultLocalQueueName", "managementState")
    ),
)
NUMA = Resource(
    "topology.node.k8s.io", "v1alpha2", "noderesourcetopologies", "NodeResourceTopology", ("zones",)
)

OF_OTHERS = (
    *(MUTATING, VALIDATING, ENDPOINTS, SECRET_STORES, PROMETHEUSES),
    *ARGOCD_FILES,
    *(SCIENCE_CLUSTERS, NUMA),
)
