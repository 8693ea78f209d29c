"""Rights of each role (docs/explanation/isolation.md), and the rights that are tried.

They are written by hand: the templates are compared with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

GroupResource = tuple[str, str]
"""API group and resource, with its subresource after a slash: ``("", "pods/log")``."""

Right = tuple[str, Mapping[str, str]]
"""Verbs, and resources by API group."""

_READ = "get list watch"
_EVERY = "create delete deletecollection get list patch update watch"
_OF_SUBRESOURCES = "create get patch update"

_CATALOG: tuple[Right, ...] = (
    (
        _READ,
        {
            "trainer.kubeflow.org": "clustertrainingruntimes",
            "kueue.x-k8s.io": "resourceflavors topologies workloadpriorityclasses",
        },
    ),
)
_LOGS: Right = ("get", {"loki.grafana.com": "application"})
_METRICS: Right = ("get", {"metrics.k8s.io": "pods"})
_VIEWER: tuple[Right, ...] = (
    (
        _READ,
        {
            "": "configmaps events limitranges persistentvolumeclaims pods pods/log resourcequotas",
            "batch": "jobs",
            "events.k8s.io": "events",
            "jobset.x-k8s.io": "jobsets",
            "k8s.cni.cncf.io": "network-attachment-definitions",
            "kueue.x-k8s.io": "localqueues workloads",
            "trainer.kubeflow.org": "trainingruntimes trainjobs",
        },
    ),
    ("get", {"": "namespaces", "visibility.kueue.x-k8s.io": "localqueues/pendingworkloads"}),
    _LOGS,
    _METRICS,
)
_USER: tuple[Right, ...] = (
    *_VIEWER,
    ("create delete patch update", {"": "configmaps", "trainer.kubeflow.org": "trainjobs"}),
)
_ADMIN: tuple[Right, ...] = (
    *_USER,
    ("create", {"": "persistentvolumeclaims"}),
    ("delete", {"": "pods"}),
    ("deletecollection", {"trainer.kubeflow.org": "trainjobs"}),
)
_DEBUGGER: tuple[Right, ...] = (
    (_READ, {"": "pods pods/log"}),
    ("create get", {"": "pods/exec"}),
    _LOGS,
)
_RUNTIMES: tuple[Right, ...] = (("create delete", {"trainer.kubeflow.org": "trainingruntimes"}),)
_PLATFORM: tuple[Right, ...] = (
    *_CATALOG,
    (
        _READ,
        {
            "": "events limitranges namespaces persistentvolumeclaims persistentvolumes pods "
            "resourcequotas",
            "k8s.cni.cncf.io": "network-attachment-definitions",
            "kueue.x-k8s.io": "clusterqueues cohorts localqueues workloads",
            "networking.k8s.io": "networkpolicies",
            "trainer.kubeflow.org": "trainingruntimes trainjobs",
        },
    ),
)
_OPERATOR: tuple[Right, ...] = (
    *_PLATFORM,
    (
        _READ,
        {
            "": "nodes pods/log",
            "batch": "jobs",
            "jobset.x-k8s.io": "jobsets",
            "machineconfiguration.openshift.io": "kubeletconfigs machineconfigpools",
            "sriovnetwork.openshift.io": "sriovnetworknodepolicies sriovnetworknodestates "
            "sriovnetworkpoolconfigs",
        },
    ),
    (
        "get",
        {
            "visibility.kueue.x-k8s.io": "clusterqueues/pendingworkloads "
            "localqueues/pendingworkloads"
        },
    ),
    _LOGS,
    (
        "delete",
        {
            "jobset.x-k8s.io": "jobsets",
            "kueue.x-k8s.io": "workloads",
            "trainer.kubeflow.org": "trainjobs",
        },
    ),
)
_AUDITOR: tuple[Right, ...] = (
    *_PLATFORM,
    (
        _READ,
        {
            "": "serviceaccounts",
            "admissionregistration.k8s.io": "validatingadmissionpolicies "
            "validatingadmissionpolicybindings",
            "rbac.authorization.k8s.io": "clusterrolebindings clusterroles rolebindings roles",
        },
    ),
)
_CLEANUP: tuple[Right, ...] = (("delete list", {"trainer.kubeflow.org": "trainjobs"}),)
_MPI_VIEWER: tuple[Right, ...] = ((_READ, {"kubeflow.org": "mpijobs"}),)
_MPI_USER: tuple[Right, ...] = (
    *_MPI_VIEWER,
    ("create delete patch update", {"kubeflow.org": "mpijobs"}),
)
_MPI_OPERATOR: tuple[Right, ...] = (*_MPI_VIEWER, ("delete", {"kubeflow.org": "mpijobs"}))
_RIGHTS = {
    "admin": _ADMIN,
    "user": _USER,
    "viewer": _VIEWER,
    "debugger": _DEBUGGER,
    "runtimes": _RUNTIMES,
    "catalog viewer": _CATALOG,
    "operator": _OPERATOR,
    "auditor": _AUDITOR,
    "clean-up": _CLEANUP,
    "mpijob viewer": _MPI_VIEWER,
    "mpijob user": _MPI_USER,
    "mpijob operator": _MPI_OPERATOR,
}

_OF_FABRICS = frozenset({"k8s.cni.cncf.io", "sriovnetwork.openshift.io"})
"""API groups of networks on a fabric: on a cluster without one no role names them."""
_OF_LOGS = frozenset({"loki.grafana.com"})
"""API group of OpenShift's log store: on a cluster that states no logs no role names it."""

_OF_METRICS = frozenset({"metrics.k8s.io"})
"""API group that OpenShift's monitoring asks about: elsewhere no role names it."""

AUTHENTICATED_RIGHTS = {
    ("create", ("authentication.k8s.io", "selfsubjectreviews")),
    ("create", ("authorization.k8s.io", "selfsubjectaccessreviews")),
    ("create", ("authorization.k8s.io", "selfsubjectrulesreviews")),
}
"""Rights of every authenticated user: to ask who they are and what they may do."""

_RESOURCES = {
    "": "configmaps events groups limitranges namespaces namespaces/finalize nodes nodes/proxy "
    "nodes/status persistentvolumeclaims persistentvolumes pods pods/attach pods/binding "
    "pods/ephemeralcontainers pods/eviction pods/exec pods/log pods/portforward pods/proxy "
    "pods/status podtemplates replicationcontrollers resourcequotas secrets serviceaccounts "
    "serviceaccounts/token services services/proxy users",
    "admissionregistration.k8s.io": "mutatingwebhookconfigurations validatingadmissionpolicies"
    " validatingadmissionpolicybindings validatingwebhookconfigurations",
    "apiextensions.k8s.io": "customresourcedefinitions",
    "apps": "daemonsets deployments replicasets statefulsets",
    "argoproj.io": "applications applicationsets appprojects",
    "batch": "cronjobs jobs jobs/status",
    "certificates.k8s.io": "certificatesigningrequests certificatesigningrequests/approval",
    "events.k8s.io": "events",
    "external-secrets.io": "clustersecretstores externalsecrets secretstores",
    "jobset.x-k8s.io": "jobsets jobsets/status",
    "k8s.cni.cncf.io": "multi-networkpolicies network-attachment-definitions",
    "kueue.x-k8s.io": "admissionchecks clusterqueues clusterqueues/status cohorts localqueues "
    "localqueues/status resourceflavors topologies workloadpriorityclasses "
    "workloads workloads/status",
    "loki.grafana.com": "application infrastructure",
    "metrics.k8s.io": "nodes pods",
    "machineconfiguration.openshift.io": "kubeletconfigs machineconfigpools machineconfigs",
    "networking.k8s.io": "ingresses networkpolicies",
    "nv-ipam.nvidia.com": "cidrpools ippools",
    "policy.networking.k8s.io": "adminnetworkpolicies baselineadminnetworkpolicies "
    "clusternetworkpolicies",
    "rbac.authorization.k8s.io": "clusterrolebindings clusterroles rolebindings roles",
    "resource.k8s.io": "resourceclaims resourceclaimtemplates",
    "scheduling.k8s.io": "priorityclasses",
    "security.openshift.io": "securitycontextconstraints",
    "sriovnetwork.openshift.io": "sriovibnetworks sriovnetworknodepolicies sriovnetworknodestates"
    " sriovnetworkpoolconfigs sriovnetworks sriovoperatorconfigs",
    "storage.k8s.io": "storageclasses",
    "trainer.kubeflow.org": "clustertrainingruntimes trainingruntimes trainjobs "
    "trainjobs/finalizers trainjobs/status",
    "visibility.kueue.x-k8s.io": "clusterqueues/pendingworkloads localqueues/pendingworkloads",
    "whereabouts.cni.cncf.io": "ippools",
    "*": "*",
}
_OWN_VERBS: dict[GroupResource, str] = {
    ("", "groups"): "impersonate",
    ("", "pods/log"): _EVERY,
    ("", "serviceaccounts"): f"impersonate {_EVERY}",
    ("", "users"): "impersonate",
    ("*", "*"): "*",
    ("rbac.authorization.k8s.io", "clusterroles"): f"bind escalate {_EVERY}",
    ("rbac.authorization.k8s.io", "roles"): f"bind escalate {_EVERY}",
    ("security.openshift.io", "securitycontextconstraints"): f"use {_EVERY}",
}


@cache
def rights(
    role: str, *, fabrics: bool = True, logs: bool = True, metrics: bool = True
) -> frozenset[tuple[str, GroupResource]]:
    """Return the verbs and resources that a role permits, with or without what some name."""
    has = {_OF_FABRICS: fabrics, _OF_LOGS: logs, _OF_METRICS: metrics}
    absent = frozenset(
        group for groups, is_there in has.items() if not is_there for group in groups
    )
    return frozenset(
        (verb, resource)
        for verbs, by_group in _RIGHTS[role]
        for resource in _resources(by_group)
        for verb in verbs.split()
        if resource[0] not in absent
    )


@cache
def tried_rights() -> frozenset[tuple[str, GroupResource]]:
    """Return every verb and resource that each subject is tried with."""
    found = set()
    for resource in {*_resources(_RESOURCES), *_OWN_VERBS}:
        usual = _OF_SUBRESOURCES if "/" in resource[1] else _EVERY
        verbs = _OWN_VERBS.get(resource, usual)
        found |= {(verb, resource) for verb in verbs.split()}
    return frozenset(found)


def _resources(by_group: Mapping[str, str]) -> Iterator[GroupResource]:
    for group, names in by_group.items():
        for name in names.split():
            yield group, name
