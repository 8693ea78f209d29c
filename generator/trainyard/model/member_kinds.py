"""Kinds that persons and accounts of a team's namespace may write there.

An operator acts on its kinds with rights of its own, and Operator Lifecycle Manager adds them to
the roles ``edit`` and ``admin``, which other operators give to accounts of every namespace
(operator-framework/operator-lifecycle-manager:
pkg/controller/operators/olm/operatorgroup.go@02bf679). So what is not known here is refused.
"""

from __future__ import annotations

from collections.abc import Collection

_KUBERNETES = (
    "",
    "apps",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "coordination.k8s.io",
    "events.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "snapshot.storage.k8s.io",
)
"""Further policies bound what of these a tenant may write."""

_JOBS = (
    "jobset.x-k8s.io",
    "kubeflow.org",
    "pipelines.kubeflow.org",
    "ray.io",
    "serving.kserve.io",
    "tekton.dev",
    "trainer.kubeflow.org",
)
"""Their controllers make pods with accounts of the namespace, and what goes with them."""

_PROJECTS = (
    "apps.openshift.io",
    "build.openshift.io",
    "image.openshift.io",
    "route.openshift.io",
    "template.openshift.io",
)
"""OpenShift's own."""

_KINDS = (
    "workflowartifactgctasks.argoproj.io",
    "workflows.argoproj.io",
    "workflowtaskresults.argoproj.io",
    "workflowtasksets.argoproj.io",
)
"""Single kinds of groups whose others choose what is the platform's. A Workflow's pods write its
results (opendatahub-io/data-science-pipelines-operator:
config/internal/apiserver/default/role_pipeline-runner.yaml.tmpl@134a96d)."""

_OF_THE_PLATFORM = (
    "argoproj.io",
    "k8s.cni.cncf.io",
    "k8s.ovn.org",
    "kueue.x-k8s.io",
    "nfd.k8s-sigs.io",
    "nfd.openshift.io",
    "sriovnetwork.openshift.io",
)
"""Groups whose kinds choose networks, queues, nodes or what is delivered."""

ON_NODES = (
    "amd.com",
    "configuration.net.nvidia.com",
    "fence-agents-remediation.medik8s.io",
    "kmm.sigs.x-k8s.io",
    "machine-deletion-remediation.medik8s.io",
    "maintenance.nvidia.com",
    "self-node-remediation.medik8s.io",
    "sriovnetwork.openshift.io",
    "storage-based-remediation.medik8s.io",
)
"""Groups whose operators reboot, drain or change nodes, or make networks in any namespace, for
whoever writes one of their kinds in any namespace (medik8s/self-node-remediation:
controllers/selfnoderemediation_controller.go@4f2c370, rh-ecosystem-edge/kernel-module-management:
internal/controllers/module_reconciler.go@5efc539)."""

BEYOND_NAMESPACE = {
    "authorinos.operator.authorino.kuadrant.io": "clusterWide",
    "kialis.kiali.io": "",
    "kuadrants.kuadrant.io": "",
    "monitoringstacks.monitoring.rhobs": "namespaceSelector",
}
"""Kinds whose operators give an account of the object's namespace rights in all namespaces, by the
field of ``spec`` that asks for it; every object does where it is empty.

- MonitoringStack: reads all pods
  (rhobs/observability-operator:pkg/controllers/monitoring/monitoring-stack/components.go@f62da54).
- Authorino: reads all Secrets
  (Kuadrant/authorino-operator:pkg/reconcilers/authorino_reconciler.go@9650cce).
- Kuadrant: its operator makes such an Authorino beside it
  (Kuadrant/kuadrant-operator:internal/controller/authorino_reconciler.go@ae69881).
- Kiali: reads all pods, logs and ConfigMaps, and forwards ports to all pods
  (kiali/kiali-operator:roles/default/kiali-deploy/templates/openshift/role-viewer.yaml@f64e75e).
"""


def groups(*, has_projects: bool) -> tuple[str, ...]:
    """Return the groups all of whose kinds a member may write, sorted.

    Args:
        has_projects: whether the cluster is OpenShift.
    """
    return tuple(sorted({*_KUBERNETES, *_JOBS, *(_PROJECTS if has_projects else ())}))


def kinds(own: Collection[str]) -> tuple[str, ...]:
    """Return the single kinds that a member may write as ``plural.group``, sorted.

    Args:
        own: those that the cluster's profile adds.
    """
    return tuple(sorted({*_KINDS, *own}))


def group_of(kind: str) -> str:
    """Return the group of a kind that is named ``plural.group``."""
    return kind.partition(".")[2]


def is_of_the_platform(kind: str) -> bool:
    """Return whether a kind chooses what only the platform gives."""
    return group_of(kind) in _OF_THE_PLATFORM and kind not in _KINDS


def groups_beyond() -> tuple[str, ...]:
    """Return the groups with kinds whose operators act on what is others', sorted."""
    return tuple(sorted({*ON_NODES, *map(group_of, BEYOND_NAMESPACE)}))
