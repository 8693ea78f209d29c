"""Daemons of others that must tolerate the taints of the pools' nodes, and do not by themselves.

Not listed are those that tolerate every ``NoSchedule`` taint: node exporter
(openshift/cluster-monitoring-operator:assets/node-exporter/daemonset.yaml@release-4.21,
prometheus-operator/kube-prometheus:manifests/nodeExporter-daemonset.yaml), the SR-IOV operator's
(k8snetworkplumbingwg/sriov-network-operator:bindata/manifests@v1.6.0), and OpenShift's Node Feature
Discovery (openshift/cluster-nfd-operator:internal/daemonset/worker.go@release-4.21).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter

from trainyard.model.accelerator import AMD, NVIDIA
from trainyard.model.cluster import Cluster
from trainyard.model.names import ADOPTED_CLASS
from trainyard.model.pool import Pool
from trainyard.render.markdown import Markdown, code, text

_GPU = "nvidia.com/gpu"
"""The one taint that NVIDIA's daemons tolerate without a setting
(NVIDIA/gpu-operator:assets@v26.7.0, Mellanox/network-operator:manifests@v26.4.1)."""
_ODF = {
    "key": "node.ocs.openshift.io/storage",
    "operator": "Equal",
    "value": "true",
    "effect": "NoSchedule",
}
"""What node plugins of OpenShift Data Foundation tolerate
(red-hat-storage/ocs-client-operator:pkg/templates/csi.go@release-4.21)."""
_REPLACED = "The patch replaces the list: add what is there already."


@dataclass(frozen=True, slots=True)
class Daemon:
    """A daemon that is missing on the tainted nodes until its owner changes a setting.

    Args:
        text: who changes it, and what happens without.
        commands: the patch, and how to check it on a node.
    """

    text: Markdown
    commands: tuple[str, ...]


def daemons(cluster: Cluster) -> Iterator[Daemon]:
    """Yield the daemons that a cluster's nodes need and that their taints keep away."""
    classes = sorted({storage.storage_class for storage in cluster.storage} - {""})
    if cluster.taints and classes:
        yield _storage(cluster, classes)
    yield from _of_gpus(cluster)
    on_fabrics = _foreign(filter(attrgetter("rail_fabric"), cluster.pools))
    if on_fabrics and cluster.release.ipam == "nv-ipam":
        yield _network(cluster.release.ipam_namespace, on_fabrics)
    if cluster.taints:
        yield from _of_the_site(cluster)


def _of_gpus(cluster: Cluster) -> Iterator[Daemon]:
    """Yield the daemons that nodes with GPUs need."""
    of_nvidia = [pool for pool in cluster.pools if pool.hardware.maker is NVIDIA]
    if with_gpus := _foreign(of_nvidia):
        yield _gpu(cluster, with_gpus)
        if not _is_openshift(cluster):
            yield _features(with_gpus)
    of_amd = {pool.hardware.taint for pool in cluster.pools if pool.hardware.maker is AMD}
    if taints := sorted(of_amd - {""}):
        yield _amd(cluster, taints)


def _of_the_site(cluster: Cluster) -> Iterator[Daemon]:
    """Yield the daemons whose programs no profile names."""
    if cluster.monitoring and cluster.monitoring.logs and not _is_openshift(cluster):
        yield _collector(cluster.taints)
    yield _others(cluster)


def _foreign(pools: Iterable[Pool]) -> list[str]:
    """Return the taints of pools that NVIDIA's daemons do not tolerate by themselves, sorted."""
    return sorted({pool.hardware.taint for pool in pools} - {"", _GPU})


def _storage(cluster: Cluster, classes: list[str]) -> Daemon:
    """Return the node plugins of the storage classes, whose drivers no profile names."""
    system, patch = (_odf if _is_openshift(cluster) else _rook)(cluster)
    cli = _cli(cluster)
    owners = ", ".join(_storage_owner(cluster, name) for name in classes)
    return _daemon(
        f"The owner of {owners} lets the driver's node plugin tolerate "
        f"{_named(cluster.taints)}. Without it no pod on those nodes mounts such a volume, and "
        "jobs hold their nodes in `ContainerCreating`. The patch is for CephFS of "
        f"{system}; any other driver has `tolerations` in its chart or DaemonSet. The second "
        "command prints the drivers, and the third must list them.",
        patch,
        "; ".join(_drivers(cli, classes)),
        f"{cli} get csinode NODE -o jsonpath='{{.spec.drivers[*].name}}'",
    )


def _storage_owner(cluster: Cluster, name: str) -> str:
    """Return what the driver of a class is found by, and its owner."""
    if name == ADOPTED_CLASS:
        return f"volumes of class {code(name)} (without a StorageClass)"
    storage_class = f"StorageClass/{name}"
    return f"{code(storage_class)} ({text(cluster.external.get(storage_class, 'unknown'))})"


def _drivers(cli: str, classes: list[str]) -> Iterator[str]:
    """Yield the commands that print the drivers of classes."""
    if provisioned := [name for name in classes if name != ADOPTED_CLASS]:
        drivers = "-o custom-columns=DRIVER:.provisioner"
        yield f"{cli} get storageclass {' '.join(provisioned)} {drivers}"
    if ADOPTED_CLASS in classes:
        drivers = "-o custom-columns=CLASS:.spec.storageClassName,DRIVER:.spec.csi.driver"
        yield f"{cli} get persistentvolumes {drivers}"


def _odf(cluster: Cluster) -> tuple[str, str]:
    """Return the name of a storage system, and its patch.

    Its operator overwrites the defaults of all drivers, and keeps what a driver's own object has
    (red-hat-storage/ocs-client-operator:internal/controller/operatorconfigmap_controller.go@
    release-4.21). A driver's list replaces that of the defaults
    (ceph/ceph-csi-operator:internal/controller/driver_controller.go).
    """
    name = "openshift-storage.cephfs.csi.ceph.com"
    spec = {"nodePlugin": {"tolerations": [_ODF, *map(_toleration, cluster.taints)]}}
    command = f"oc -n openshift-storage patch drivers.csi.ceph.io {name}"
    return "OpenShift Data Foundation", _patch(command, {"spec": spec})


def _rook(cluster: Cluster) -> tuple[str, str]:
    """Return the name of a storage system, and its patch.

    Rook reads the setting as YAML, and has no toleration without it, with and without the CSI
    operator (rook/rook:pkg/operator/ceph/csi/operator_driver.go).
    """
    value = json.dumps(list(map(_toleration, cluster.taints)))
    command = "kubectl -n rook-ceph patch configmap rook-ceph-operator-config"
    return "Rook", _patch(command, {"data": {"CSI_PLUGIN_TOLERATIONS": value}})


def _gpu(cluster: Cluster, taints: list[str]) -> Daemon:
    name = "gpu-cluster-policy" if _is_openshift(cluster) else "cluster-policy"
    cli = _cli(cluster)
    return _daemon(
        f"The owner of the NVIDIA GPU operator lets its daemons tolerate {_named(taints)}: by "
        f"themselves they tolerate {code(_GPU)} only, and a node has no GPU. {_REPLACED} The "
        "second command must print the number of the node's GPUs.",
        _patch(
            f"{cli} patch clusterpolicies.nvidia.com {name}",
            {"spec": {"daemonsets": {"tolerations": _with_gpu(taints)}}},
        ),
        f"{cli} get node NODE -o jsonpath='{{.status.allocatable.nvidia\\.com/gpu}}'",
    )


def _amd(cluster: Cluster, taints: list[str]) -> Daemon:
    """Return AMD's daemons, which tolerate no taint of nodes by themselves.

    Source: ROCm/gpu-operator:api/v1alpha1/deviceconfig_types.go, DevicePluginSpec.
    """
    cli, tolerations = _cli(cluster), list(map(_toleration, taints))
    keys = ("devicePluginTolerations", "nodeLabellerTolerations")
    return _daemon(
        f"The owner of the AMD GPU operator lets its daemons tolerate {_named(taints)}, or a node "
        f"has no GPU. {_REPLACED} The second command must print the number of the node's GPUs.",
        _patch(
            f"{cli} -n NAMESPACE patch deviceconfigs.amd.com NAME",
            {"spec": {"devicePlugin": dict.fromkeys(keys, tolerations)}},
        ),
        f"{cli} get node NODE -o jsonpath='{{.status.allocatable.amd\\.com/gpu}}'",
    )


def _features(taints: list[str]) -> Daemon:
    key = "node-feature-discovery.worker.tolerations"
    return _daemon(
        f"The owner of Node Feature Discovery lets its worker tolerate {_named(taints)}, or the "
        "GPU operator does not find the nodes. The command is for the one that the GPU operator's "
        "chart brings. The second command must print labels.",
        "helm -n gpu-operator upgrade gpu-operator nvidia/gpu-operator --reuse-values --set-json "
        f"'{key}={_json(_with_gpu(taints))}'",
        "kubectl get node NODE --show-labels | grep --only-matching 'feature.node[^,]*'",
    )


def _network(namespace: str, taints: list[str]) -> Daemon:
    return _daemon(
        f"The owner of the NVIDIA network operator lets its daemons tolerate {_named(taints)}: by "
        f"themselves Multus, the CNI plugins and nv-ipam tolerate {code(_GPU)} only, and pods on a "
        f"fabric stay in `ContainerCreating`. {_REPLACED} The second command must print these "
        "three.",
        _patch(
            "kubectl patch nicclusterpolicies.mellanox.com nic-cluster-policy",
            {"spec": {"tolerations": list(map(_toleration, taints))}},
        ),
        f"kubectl -n {namespace} get pods --field-selector spec.nodeName=NODE",
    )


def _collector(taints: list[str]) -> Daemon:
    """Return the log collector; that of OpenShift has the tolerations in our forwarder.

    Source: fluent/helm-charts:charts/fluent-bit/values.yaml@011820b, whose list is empty.
    """
    tolerations = _json(list(map(_toleration, taints)))
    return _daemon(
        f"The owner of the log collector lets it tolerate {_named(taints)}, or no line of a job is "
        f"kept. {_REPLACED} The command is for Fluent Bit's chart; any other collector has "
        "`tolerations` in its chart or DaemonSet.",
        "helm -n NAMESPACE upgrade fluent-bit fluent/fluent-bit --reuse-values --set-json "
        f"'tolerations={tolerations}'",
    )


def _others(cluster: Cluster) -> Daemon:
    """Return how to find what no profile names, such as an agent of a cloud or for security."""
    columns = (
        "NAMESPACE:.metadata.namespace,NAME:.metadata.name,"
        "KEYS:.spec.template.spec.tolerations[*].key,"
        "OPERATORS:.spec.template.spec.tolerations[*].operator"
    )
    return _daemon(
        f"The owner of each other DaemonSet that the nodes need adds {_named(cluster.taints)} to "
        "its tolerations. The command lists all of them. One with as many operators as keys and "
        "without these keys does not run there; an `Exists` without a key tolerates every taint.",
        f"{_cli(cluster)} get daemonsets --all-namespaces -o custom-columns='{columns}'",
    )


def _daemon(words: str, *commands: str) -> Daemon:
    return Daemon(Markdown(words), commands)


def _is_openshift(cluster: Cluster) -> bool:
    return "machine-config" in cluster.release.features


def _cli(cluster: Cluster) -> str:
    return "oc" if _is_openshift(cluster) else "kubectl"


def _named(taints: Iterable[str]) -> str:
    return ", ".join(map(code, taints))


def _with_gpu(taints: Iterable[str]) -> list[dict[str, str]]:
    return list(map(_toleration, sorted({_GPU, *taints})))


def _toleration(key: str) -> dict[str, str]:
    return {"key": key, "operator": "Exists", "effect": "NoSchedule"}


def _patch(command: str, patch: dict[str, object]) -> str:
    return f"{command} --type merge -p '{_json(patch)}'"


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
