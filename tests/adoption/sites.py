"""Clusters as sites have them: dumps of `kubectl get -o json`, written by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Body = dict[str, Any]
NOTHING: Mapping[str, str] = {}

H100 = "NVIDIA-H100-80GB-HBM3"
_LAST = "kubectl.kubernetes.io/last-applied-configuration"


def body(api: str, kind: str, name: str, namespace: str = "", **fields: Any) -> Body:
    """Return an object."""
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **fields}


def node(
    name: str,
    *,
    gpus: int = 8,
    labels: Mapping[str, str] = NOTHING,
    sizes: Mapping[str, str] = NOTHING,
) -> Body:
    """Return a node of eight GPUs with 224 threads and 2 TiB, of which kubelet offers the rest."""
    capacity = {
        "cpu": "224",
        "memory": "2113929216Ki",
        "ephemeral-storage": "1874853888Ki",
        "pods": "250",
    }
    allocatable = {
        "cpu": "216",
        "memory": "2088661Mi",
        "ephemeral-storage": "1600Gi",
        "pods": "250",
    }
    if gpus:
        capacity["nvidia.com/gpu"] = allocatable["nvidia.com/gpu"] = str(gpus)
        labels = {"nvidia.com/gpu.product": H100, **labels}
    found = body("v1", "Node", name)
    found["metadata"] |= {
        "labels": {"kubernetes.io/arch": "amd64", "kubernetes.io/hostname": name, **labels},
        "annotations": {_LAST: "hidden"},
    }
    found["spec"] = {"taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}] if gpus else []}
    found["status"] = {
        "capacity": {**capacity, **sizes},
        "allocatable": {**allocatable, **sizes},
        "nodeInfo": {"architecture": "amd64", "kubeletVersion": "v1.34.4"},
    }
    return found


def pod(name: str, namespace: str, on: str, owner: str, **requests: str) -> Body:
    """Return a pod that runs, with a variable that nobody may see."""
    container = {
        "name": "main",
        "image": "registry.example.com/x@sha256:1",
        "env": [{"name": "TOKEN", "value": "hidden"}],
        "resources": {
            "requests": {key.replace("gpu", "nvidia.com/gpu"): n for key, n in requests.items()}
        },
    }
    found = body("v1", "Pod", name, namespace, spec={"nodeName": on, "containers": [container]})
    found["metadata"]["ownerReferences"] = [{"kind": owner, "name": "x", "controller": True}]
    return {**found, "status": {"phase": "Running"}}


def queue(
    name: str,
    cohort: str,
    flavors: dict[str, dict[str, Any]],
    *,
    version: str = "v1beta1",
    **spec: Any,
) -> Body:
    """Return a ClusterQueue; an amount is nominal, or nominal, borrowing and lending limit."""
    rows = []
    for flavor, resources in flavors.items():
        cells = []
        for resource, amount in resources.items():
            amounts = amount if isinstance(amount, tuple) else (amount,)
            keys = ("nominalQuota", "borrowingLimit", "lendingLimit")
            pairs = {key: n for key, n in zip(keys, amounts, strict=False) if n is not None}
            cells.append({"name": resource, **pairs})
        rows.append({"name": flavor, "resources": cells})
    covered = sorted({each for resources in flavors.values() for each in resources})
    key = "cohort" if version == "v1beta1" else "cohortName"
    spec |= {"resourceGroups": [{"coveredResources": covered, "flavors": rows}]}
    if cohort:
        spec[key] = cohort
    return body(f"kueue.x-k8s.io/{version}", "ClusterQueue", name, spec=spec)


def local(namespace: str, name: str, of: str, version: str = "v1beta1") -> Body:
    """Return a LocalQueue."""
    return body(
        f"kueue.x-k8s.io/{version}", "LocalQueue", name, namespace, spec={"clusterQueue": of}
    )


def flavor(name: str, labels: dict[str, str], version: str = "v1beta1", **spec: Any) -> Body:
    """Return a ResourceFlavor."""
    spec |= {"nodeLabels": labels} if labels else {}
    return body(f"kueue.x-k8s.io/{version}", "ResourceFlavor", name, spec=spec)


def binding(namespace: str, role: str, *subjects: str, kind: str = "ClusterRole") -> Body:
    """Return a RoleBinding of subjects such as `Group:name`."""
    listed = []
    for each in subjects:
        of, name = each.split(":", 1)
        listed.append({"kind": of, "name": name, "namespace": namespace if of[0] == "S" else ""})
    found = body(
        "rbac.authorization.k8s.io/v1", "RoleBinding", f"{role}-{len(subjects)}", namespace
    )
    return {**found, "roleRef": {"kind": kind, "name": role}, "subjects": listed}


def claim(namespace: str, name: str, size: str, mode: str, volume: str) -> Body:
    """Return a PersistentVolumeClaim that Kubernetes bound to a volume."""
    spec = {
        "accessModes": [mode],
        "storageClassName": "lustre",
        "volumeName": volume,
        "resources": {"requests": {"storage": size}},
    }
    bound = body(
        "v1", "PersistentVolumeClaim", name, namespace, spec=spec, status={"phase": "Bound"}
    )
    bound["metadata"]["annotations"] = {"pv.kubernetes.io/bound-by-controller": "yes"}
    return bound


def priority(name: str, value: int) -> Body:
    """Return a WorkloadPriorityClass."""
    return body("kueue.x-k8s.io/v1beta1", "WorkloadPriorityClass", name, value=value)


def _common(nodes: list[Body]) -> Iterator[Body]:
    yield from nodes
    for each in nodes:
        name = each["metadata"]["name"]
        yield pod(f"exporter-{name}", "monitoring", name, "DaemonSet", cpu="2", memory="4Gi")
    yield body("v1", "Namespace", "kube-system")
    yield body("v1", "Secret", "token", "kube-system", data={"token": "aGlkZGVu"})


def research() -> list[Body]:
    """Nine namespaces and three ClusterQueues of one cohort, with Kueue 0.14."""
    pool = {"example.com/pool": "h100"}
    nodes = [node(f"gpu-{n:02}", labels=pool) for n in range(1, 9)]
    nodes += [node(f"cp-{n}", gpus=0) for n in range(1, 4)]
    each = {"cpu": "500", "memory": "4000Gi"}
    found = [
        *_common(nodes),
        flavor("h100-flavor", pool),
        queue("vision-cq", "research", {"h100-flavor": {**each, "nvidia.com/gpu": ("20", "8")}}),
        queue(
            "language",
            "research",
            {
                "h100-flavor": {
                    "cpu": "432",
                    "memory": "3600Gi",
                    "nvidia.com/gpu": ("16", None, "8"),
                }
            },
            fairSharing={"weight": "2"},
        ),
        queue(
            "speech",
            "research",
            {"h100-flavor": {"cpu": "864", "nvidia.com/gpu": ("32", "0")}},
            stopPolicy="Hold",
            admissionChecks=["budget"],
        ),
        queue("spare", "", {"h100-flavor": {"nvidia.com/gpu": "4"}}),
    ]
    shared = {
        "vision-cq": ("vision", "vision-dev", "vision-ci"),
        "language": ("nlp", "translation"),
        "speech": ("speech", "speech-eval", "speech-data", "Admin_3"),
    }
    for of, namespaces in shared.items():
        for namespace in namespaces:
            found += [body("v1", "Namespace", namespace), local(namespace, "default-queue", of)]
    found += [
        binding("vision", "edit", "Group:vision", "User:eve", "ServiceAccount:ci"),
        binding("vision", "admin", "Group:/ml/vision leads"),
        binding("nlp", "training-runner", "Group:nlp", kind="Role"),
        body(
            "rbac.authorization.k8s.io/v1",
            "Role",
            "training-runner",
            "nlp",
            rules=[{"verbs": ["create", "delete"]}],
        ),
        claim("vision", "datasets", "20Ti", "ReadWriteMany", "pv-datasets"),
        claim("vision", "cache", "100Gi", "ReadWriteOnce", "pv-cache"),
        priority("production", 1000),
        priority("batch", 100),
        pod("server-0", "inference", "gpu-01", "ReplicaSet", gpu="1"),
        pod("notebook-eve", "vision", "gpu-02", "StatefulSet", gpu="1"),
        body("kubeflow.org/v1", "PyTorchJob", "train", "vision"),
        body("kubeflow.org/v1", "PyTorchJob", "train-2", "vision"),
        body(
            "networking.k8s.io/v1",
            "NetworkPolicy",
            "out",
            "vision",
            spec={"egress": [{"to": [{"ipBlock": {"cidr": "203.0.113.0/24"}}]}]},
        ),
        body(
            "v1",
            "ConfigMap",
            "kueue-manager-config",
            "kueue-system",
            data={
                "controller_manager_config.yaml": (
                    "apiVersion: config.kueue.x-k8s.io/v1beta1\nkind: Configuration\n"
                    "waitForPodsReady: {enable: true}\n"
                    "integrations: {frameworks: [batch/job, kubeflow.org/pytorchjob, x.io/job]}\n"
                )
            },
        ),
    ]
    return found


def racks() -> list[Body]:
    """One team on nodes of two racks, with a topology and a VLAN, and Kueue 0.17 (v1beta2)."""
    version = "v1beta2"
    pool = {"example.com/pool": "dgx"}
    nodes = [
        node(f"dgx-{n}", labels={**pool, "example.com/rack": f"r{n % 2}"}) for n in range(1, 5)
    ]
    policies = [
        body(
            "sriovnetwork.openshift.io/v1",
            "SriovNetworkNodePolicy",
            f"rail-{n}",
            "openshift-sriov-network-operator",
            spec={
                "resourceName": f"rail{n}",
                "nodeSelector": pool,
                "numVfs": 4,
                "mtu": 9000,
                "linkType": "eth",
                "nicSelector": {"pfNames": [f"ens{n}f0"]},
            },
        )
        for n in range(2)
    ]
    network = {"networkNamespace": "physics", "resourceName": "rail0", "vlan": 210}
    flat = {"networkNamespace": "physics", "resourceName": "rail1", "vlan": 0}
    levels = [{"nodeLabel": "example.com/rack"}, {"nodeLabel": "kubernetes.io/hostname"}]
    where = "openshift-sriov-network-operator"
    return [
        *_common(nodes),
        flavor("dgx", pool, version, topologyName="racks"),
        body(f"kueue.x-k8s.io/{version}", "Topology", "racks", spec={"levels": levels}),
        body(
            f"kueue.x-k8s.io/{version}",
            "Cohort",
            "lab",
            spec={
                "parentName": "all",
                "fairSharing": {"weight": "3"},
                "resourceGroups": queue("x", "", {"dgx": {"nvidia.com/gpu": ("8", "4")}})["spec"][
                    "resourceGroups"
                ],
            },
        ),
        queue("physics", "lab", {"dgx": {"nvidia.com/gpu": ("24", "8", "16")}}, version=version),
        queue("chemistry", "lab", {"dgx": {"nvidia.com/gpu": "8"}}, version=version),
        local("physics", "gpu", "physics", version),
        local("chemistry", "gpu", "chemistry", version),
        binding("physics", "edit", "Group:physics"),
        binding("chemistry", "edit", "Group:chemistry"),
        *policies,
        body("sriovnetwork.openshift.io/v1", "SriovNetwork", "physics-0", where, spec=network),
        body("sriovnetwork.openshift.io/v1", "SriovNetwork", "physics-1", where, spec=flat),
    ]


def mig() -> list[Body]:
    """GPUs that are cut into instances of MIG, beside whole ones."""
    cut = {"nvidia.com/mig-1g.10gb": "56"}
    nodes = [
        node("whole-1", labels={"pool": "whole"}),
        node("cut-1", labels={"pool": "cut"}, sizes=cut),
    ]
    return [
        *_common(nodes),
        flavor("whole", {"pool": "whole"}),
        flavor("cut", {"pool": "cut"}),
        queue(
            "team-a",
            "",
            {"whole": {"nvidia.com/gpu": "8"}, "cut": {"nvidia.com/mig-1g.10gb": "28"}},
        ),
        local("team-a", "gpu", "team-a"),
        pod("infer", "serving", "cut-1", "ReplicaSet", **{"nvidia.com/mig-1g.10gb": "2"}),
    ]


def plain() -> list[Body]:
    """Without Kueue: ResourceQuotas, in namespaces that are not teams' too."""
    nodes = [node(f"n{n}") for n in range(1, 4)]

    def limit(namespace: str, gpus: str) -> Body:
        hard = {"requests.nvidia.com/gpu": gpus, "requests.cpu": "200", "pods": "50"}
        used = {"requests.nvidia.com/gpu": "3"}
        found = body("v1", "ResourceQuota", "compute", namespace, spec={"hard": hard})
        return {**found, "status": {"used": used}}

    web = body("v1", "ResourceQuota", "compute", "web", spec={"hard": {"requests.cpu": "10"}})
    return [*_common(nodes), limit("biology", "8"), limit("chem", "4"), limit("big", "12"), web]


SITES = {"research": research, "racks": racks, "mig": mig, "plain": plain}
