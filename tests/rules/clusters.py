"""A cluster that has all that its tree needs, and changes of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.facts.collect import of_dump
from trainyard.model.facts import Facts, Unread
from trainyard.model.live import AFTER, BEFORE, Live
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Platform, Site
from trainyard.model.pool import Pool
from trainyard.model.readable import MACHINE_POOLS, NAMESPACES, VOLUMES
from trainyard.model.readable_of_others import SCIENCE_CLUSTERS
from trainyard.model.readable_of_tree import CLAIMS, EXTERNAL_SECRETS
from trainyard.render.site import render_site
from trainyard.rules.preflight.kind_not_served import BUILT_IN
from trainyard.workflows.facts import argocd_of, kueue_of, scope_of
from trainyard.yaml_io.emitter import emit

Body = dict[str, Any]
_CONTROLLERS = {
    "argocd": "argocd-application-controller",
    "jobset": "jobset-controller-manager",
    "kueue": "kueue-controller-manager",
    "trainer": "kubeflow-trainer-controller-manager",
}
_QUEUED = {
    "BatchJob": "jobs",
    "JobSet": "jobsets",
    "MPIJob": "mpijobs",
    "RayJob": "rayjobs",
    "TrainJob": "trainjobs",
}
"""Kinds that Kueue queues, in the API's paths."""
READY = {"conditions": [{"type": "Ready", "status": "True"}]}
_ANY = {"x-kubernetes-preserve-unknown-fields": True}


def live_of(
    platform: Platform,
    changes: Mapping[str, Any],
    phase: str | None = None,
    unread: Mapping[str, str] | None = None,
) -> Live:
    """Return the only cluster of a platform, with changes of its objects.

    Args:
        platform: with one cluster.
        changes: by kind, namespace and name; None deletes an object.
        phase: `BEFORE` by default.
        unread: reason by the name of the kind.
    """
    (site,) = platform.sites
    return live_with(site, render_site(site), phase or BEFORE, changes, unread or {})


def live_with(
    site: Site,
    manifests: tuple[Manifest, ...],
    phase: str,
    changes: Mapping[str, Any],
    unread: Mapping[str, str],
) -> Live:
    """Return a cluster with changes of its objects; the arguments as those of `live_of`."""
    facts = facts_of(site, manifests, phase, changes, unread)
    argocd = argocd_of(facts, site.cluster.argocd_namespace)
    return Live(site, phase, manifests, facts, kueue_of(facts), argocd)


def facts_of(
    site: Site,
    manifests: tuple[Manifest, ...],
    phase: str,
    changes: Mapping[str, Any],
    unread: Mapping[str, str],
) -> Facts:
    """Return the facts of a cluster."""
    known = {_key(body): body for body in objects_of(site, manifests, phase)}
    for key, change in changes.items():
        body = _merged(known.get(key, _new(key)), change)
        known = {each: old for each, old in known.items() if each != key}
        known |= {key: body} if body else {}
    dump = of_dump(known.values(), site.name, scope_of(site))
    reasons = tuple(Unread(name, why) for name, why in sorted(unread.items()))
    version = site.cluster.versions["kubernetes"]
    return Facts(
        site.name, "https://lab.example.com", f"{version}.1", reasons, dump.objects, dump.table
    )


def objects_of(site: Site, manifests: tuple[Manifest, ...], phase: str) -> Iterator[Body]:
    """Yield the objects that a tree needs; after the sync also those that it has."""
    live = Live(site, phase, manifests, Facts(site.name, "", "", (), ()), {})
    for pool in site.cluster.pools:
        yield from (node(pool, number) for number in range(pool.nodes))
    yield from crds(live.delivered, site)
    own = {each.name for each in live.made(NAMESPACES)}
    for namespace in sorted({each.namespace for each in live.delivered} - own - {""}):
        yield _object("v1", "Namespace", namespace)
    yield from others_of(site, live)
    classes = {each.storage_class for each in site.cluster.storage} - {"", "trainyard-adopted"}
    yield from (_object("storage.k8s.io/v1", "StorageClass", each) for each in sorted(classes))
    yield from workloads(site)
    for manifest in manifests:
        if manifest.path == "operators/kueue-configuration.yaml":
            text = emit(manifest.body).decode()
            body = _object("v1", "ConfigMap", "kueue-manager-config", "kueue-system")
            yield {**body, "data": {"controller_manager_config.yaml": text}}
    if phase == AFTER:
        yield from synced(site, live.delivered)


def node(pool: Pool, number: int) -> Body:
    """Return a node as its pool's profile promises it."""
    levels = pool.topology.levels if pool.topology else ()
    labels = {**pool.labels, **dict.fromkeys(levels, "leaf-0")}
    if pool.hardware.gpu:
        labels["nvidia.com/gpu.product"] = pool.hardware.gpu.product
    taint = {"key": pool.hardware.taint, "effect": "NoSchedule", "value": "true"}
    return {
        **_object("v1", "Node", f"{pool.name}-{number}", labels=labels),
        "spec": {"taints": [taint]},
        "status": {
            "allocatable": pool.allocatable_quantities,
            "nodeInfo": {"architecture": pool.hardware.architecture},
        },
    }


def crds(manifests: list[Manifest], site: Site) -> Iterator[Body]:
    """Yield a CRD of each kind of a tree, which takes any value of the fields that it has."""
    fields: dict[tuple[str, str, str], dict[str, Any]] = {}
    for manifest in manifests:
        group, _, version = manifest.body["apiVersion"].rpartition("/")
        if group not in BUILT_IN:
            keys = dict.fromkeys(manifest.body, _ANY)
            fields.setdefault((group, version, manifest.kind.name), {}).update(keys)
    for (group, version, kind), properties in sorted(fields.items()):
        plural = site.cluster.release.plural(group, kind)
        (scope,) = {
            "Namespaced" if each.namespace else "Cluster"
            for each in manifests
            if (each.kind.group, each.kind.name) == (group, kind)
        }
        schema = {"openAPIV3Schema": {"type": "object", "properties": properties}}
        yield {
            **_object("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"{plural}.{group}"),
            "status": {"storedVersions": [version]},
            "spec": {
                "group": group,
                "names": {"kind": kind, "plural": plural},
                "scope": scope,
                "versions": [{"name": version, "served": True, "schema": schema}],
            },
        }


def workloads(site: Site) -> Iterator[Body]:
    """Yield the controllers, in the versions of the profile."""
    for source in site.cluster.sources:
        if source.name in _CONTROLLERS:
            name = _CONTROLLERS[source.name]
            version = site.cluster.versions[source.name]
            image = f"registry.example.com/{source.name}:v{version}.1"
            kind = "StatefulSet" if source.name == "argocd" else "Deployment"
            container = {"name": "manager", "image": image}
            yield {
                **_object("apps/v1", kind, name, source.namespace),
                "spec": {"template": {"spec": {"containers": [container]}}},
                "status": {"availableReplicas": 1},
            }


def synced(site: Site, manifests: list[Manifest]) -> Iterator[Body]:
    """Yield the objects of a tree as controllers leave them."""
    healthy = {"sync": {"status": "Synced"}, "health": {"status": "Healthy"}}
    active = {"conditions": [{"type": "Active", "status": "True"}]}
    states = {"Application": healthy, "ClusterQueue": active, "LocalQueue": active}
    states["ExternalSecret"] = READY
    for manifest in manifests:
        yield {**manifest.body, "status": states.get(manifest.kind.name, {})}
    for tenant in site.tenants:
        namespace = site.cluster.argocd_namespace
        body = _object("argoproj.io/v1alpha1", "Application", tenant.application, namespace)
        source = {"repoURL": site.cluster.settings.repository}
        yield {**body, "spec": {"source": source}, "status": healthy}


def others_of(site: Site, live: Live) -> Iterator[Body]:
    """Yield what others made, and the tree needs or Argo CD follows."""
    yield from hooks(site)
    for name in sorted(_stores(live)):
        body = _object("external-secrets.io/v1", "ClusterSecretStore", name)
        yield {**body, "status": READY}
    yield from prometheus(site)
    if not site.cluster.has_remote_argocd:
        body = _object("v1", "ConfigMap", "argocd-cm", site.cluster.argocd_namespace)
        yield {**body, "data": {"application.resourceTrackingMethod": "annotation"}}
    for pool in site.cluster.pools:
        yield from (ports(site, pool, number) for number in range(pool.nodes) if pool.rails)
    made = {each.name for each in live.made(VOLUMES)}
    for claim in live.made(CLAIMS):
        volume = claim.body["spec"].get("volumeName")
        if volume and volume not in made:
            spec = {"persistentVolumeReclaimPolicy": "Retain"}
            yield {**_object("v1", "PersistentVolume", volume), "spec": spec}
    if live.made(MACHINE_POOLS):
        worker = {"matchLabels": {"node-role.kubernetes.io/worker": ""}}
        body = _object("machineconfiguration.openshift.io/v1", "MachineConfigPool", "worker")
        yield {**body, "spec": {"nodeSelector": worker}}
        kueue = {"managementState": "Unmanaged", "autoCreateQueues": False}
        group = SCIENCE_CLUSTERS.group
        body = _object(f"{group}/v1", "DataScienceCluster", "default-dsc")
        yield {**body, "spec": {"components": {"kueue": kueue}}}


def _stores(live: Live) -> set[str]:
    return {each.body["spec"]["secretStoreRef"]["name"] for each in live.made(EXTERNAL_SECRETS)}


def hooks(site: Site) -> Iterator[Body]:
    """Yield Kueue's webhooks, and the endpoint that answers them."""
    (namespace,) = {each.namespace for each in site.cluster.sources if each.name == "kueue"}
    service = {"name": "kueue-webhook-service", "namespace": namespace}
    kinds = [_QUEUED[framework] for framework in site.frameworks]
    rules = [{"apiGroups": ["*"], "operations": ["CREATE"], "resources": kinds}]
    webhook = {
        "name": "jobs.kb.io",
        "clientConfig": {"service": service, "caBundle": "Y2E="},
        "failurePolicy": "Fail",
        "rules": rules,
    }
    for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"):
        body = _object("admissionregistration.k8s.io/v1", kind, "kueue")
        yield {**body, "webhooks": [webhook]}
    labels = {"kubernetes.io/service-name": service["name"]}
    body = _object("discovery.k8s.io/v1", "EndpointSlice", "kueue-1", namespace, labels)
    yield {**body, "endpoints": [{"addresses": ["10.0.0.1"], "conditions": {"ready": True}}]}


def prometheus(site: Site) -> Iterator[Body]:
    """Yield the Prometheus that reads the objects of the tree."""
    monitoring = site.cluster.monitoring
    if monitoring and monitoring.stack == "prometheus-operator":
        kinds = ("podMonitor", "rule", "serviceMonitor")
        spec: Body = {f"{each}NamespaceSelector": {} for each in kinds}
        chosen = {"matchLabels": dict(monitoring.labels)}
        spec |= {f"{each}Selector": chosen for each in kinds}
        body = _object("monitoring.coreos.com/v1", "Prometheus", "main", "monitoring")
        yield {**body, "spec": spec}
    elif monitoring:
        namespace = "openshift-user-workload-monitoring"
        body = _object("apps/v1", "StatefulSet", "prometheus-user-workload", namespace)
        yield {**body, "status": {"availableReplicas": 2}}


def ports(site: Site, pool: Pool, number: int) -> Body:
    """Return the state of a node's ports, as the SR-IOV operator writes it."""
    fabric, kind = pool.rail_fabric, pool.hardware
    assert fabric
    interfaces = [
        {
            "pciAddress": nic.pci,
            "name": nic.interface,
            "vendor": kind.nic_vendor,
            "deviceID": kind.nic_device,
            "linkType": fabric.link.sriov_type.upper(),
            "totalvfs": 16,
        }
        for nic in kind.rails
    ]
    namespace = site.cluster.release.sriov_namespace
    version = "sriovnetwork.openshift.io/v1"
    body = _object(version, "SriovNetworkNodeState", f"{pool.name}-{number}", namespace)
    return {**body, "status": {"syncStatus": "Succeeded", "interfaces": interfaces}}


def _object(
    version: str, kind: str, name: str, namespace: str = "", labels: Mapping[str, str] | None = None
) -> Body:
    place = {"namespace": namespace} if namespace else {}
    metadata = {"name": name, **place, "labels": dict(labels or {})}
    return {"apiVersion": version, "kind": kind, "metadata": metadata}


def _key(body: Body) -> str:
    metadata = body["metadata"]
    return "/".join(filter(None, (body["kind"], metadata.get("namespace", ""), metadata["name"])))


def _new(key: str) -> Body:
    kind, *place, name = key.split("/")
    return _object("", kind, name, "".join(place))


def _merged(base: Any, change: Any) -> Any:
    if not isinstance(change, dict):
        return change
    result = dict(base) if isinstance(base, dict) else {}
    for key, value in change.items():
        result[key] = _merged(result.get(key), value)
    return {key: value for key, value in result.items() if value is not None}
