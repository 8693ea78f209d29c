"""Labels and taints of nodes: what they must say for one kind of whole GPUs to be selected."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Pointer, Rule, Severity
from trainyard.model.hardware import Hardware
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._walk import hardware

PRODUCT = "nvidia.com/gpu.product"
"""Set by GPU feature discovery; -MIG- and -SHARED stand for parts (NVIDIA/k8s-device-plugin)."""

_SLICED = re.compile(r"-MIG-|-SHARED\Z")
_WHOLE = {"nvidia.com/mig.config": "all-disabled", "nvidia.com/gpu.sharing-strategy": "none"}
"""Labels that select nodes with parts of GPUs, unless they have these values."""

_SYSTEM_TAINT = re.compile(
    r"(node|node\.cloudprovider)\.kubernetes\.io/|node-role\.kubernetes\.io/(master|control-plane|infra)\Z"
)

_DISCOVERED = re.compile(r"nvidia\.com/(?:cuda|gfd|gpu|mig)\.(?!config|deploy)|feature\.node\.kubernetes\.io/")
"""Of GPU feature discovery and node feature discovery."""

_KUBERNETES = re.compile(r"(?:[^/]*\.)?kubernetes\.io/")
_OF_NODES = re.compile(
    r"(?:beta\.)?kubernetes\.io/(?:arch|hostname|instance-type|os)\Z"
    r"|(?:[^/]*\.)?(?:kubelet|node|node-restriction|node-role|node\.cloudprovider|topology)\.kubernetes\.io/"
    r"|failure-domain\.beta\.kubernetes\.io/"
)
"""Below Kubernetes' own domain: what kubelet, cloud providers, feature discovery and administrators set on nodes."""

_OF_OTHERS = re.compile(
    r"(?:[^/]*\.)?(?:argoproj\.io|external-secrets\.io|helm\.sh|jobset\.sigs\.k8s\.io|k8s\.cni\.cncf\.io"
    r"|jobset\.x-k8s\.io|kubeflow\.org|kueue\.x-k8s\.io|opendatahub\.io|security\.openshift\.io)/|openshift\.io/"
)
"""Labels of namespaces, jobs, pods and applications, by the domain of the controller that reads them there."""

_OTHER_NODES = (
    "Quota and runtimes are computed for one GPU, and the nodes have another: jobs run slower, run out of GPU memory,"
    " or, where no node matches, wait for ever: `no topology domains at level: <label>` (seen with Kueue"
    " 0.19.2)."
)

CONTRADICTING_PRODUCT = Rule(
    id="node/contradicting-product",
    severity=Severity.ERROR,
    summary="The label of a node's GPUs that selects it is that of the product that the profile states.",
    why=_OTHER_NODES,
    fix="Say both; a profile that extends another replaces its `labels` as a whole, and of `gpu` what it names.",
)
LABELS_MISS_PRODUCT = Rule(
    id="node/labels-miss-product",
    severity=Severity.WARNING,
    summary="Nodes with GPUs are selected by their product, or by a label of the platform's own.",
    why=f"Whatever has a GPU joins the pool, also what is bought later. {_OTHER_NODES}",
    fix="Leave `labels` out, so that the platform's own selects them; or add one below the settings' `domain`.",
)
LABEL_OF_A_DAEMON = Rule(
    id="node/label-of-a-daemon",
    severity=Severity.WARNING,
    summary="Nodes are selected by a label that the platform sets, not by one that a daemon discovers.",
    why=(
        "The label goes when the daemon is upgraded, fails or is removed (NVIDIA/k8s-device-plugin#1597). The node then"
        " leaves its flavor, and the SR-IOV operator resets its virtual functions under the jobs that run."
    ),
    fix=(
        "Leave `labels` out and set the platform's own label on the nodes. Where jobs run the flavor can't change: add"
        " a pool under another name beside the old one, and move the quota."
    ),
)
SLICED_GPU = Rule(
    id="node/sliced-gpu",
    severity=Severity.ERROR,
    summary="The GPUs of a pool are whole ones: neither slices (MIG) nor shared in time.",
    why=(
        "nvidia.com/gpu then counts slices or turns (NVIDIA/gpu-operator#637): NCCL can't join two slices of a card,"
        " and a job of eight may have one card, eight times."
    ),
    fix="Set the nodes to whole GPUs; leave sliced ones to pools that Trainyard does not know.",
)
FOREIGN_LABEL = Rule(
    id="node/foreign-label",
    severity=Severity.ERROR,
    summary="The labels that select a node are labels of nodes, not of namespaces, jobs or pods.",
    why=(
        "No kubelet, cloud provider or discovery sets such a label on a node. Kueue looks for nodes that carry it,"
        " finds none, and the pool's jobs wait."
    ),
    fix="Use a label that the nodes have, or one below the settings' `domain`; or leave `labels` out.",
)
SYSTEM_TAINT = Rule(
    id="node/system-taint",
    severity=Severity.ERROR,
    summary="The taint of a node is not one that Kubernetes sets, nor one of the control plane's nodes.",
    why=(
        "Kueue adds the toleration to every job: nodes that fail, are full or not yet initialized stay in use, or jobs"
        " land beside the API server. OpenShift AI's Trainer refuses pods that tolerate the control plane's taints."
    ),
    fix="Take the key of the GPU operator, nvidia.com/gpu, or one of your own.",
)


def contradicting_product(platform: Platform) -> Iterator[Diagnostic]:
    """Compare the product with the label of that meaning."""
    for each in hardware(platform):
        label = each.labels.get(PRODUCT)
        if each.gpu and label is not None and label != each.gpu.product:
            message = f"the GPUs of a `{each.name}` are {each.gpu.product}, but its labels select {label}"
            notes = [Note("the label", each.stated("labels", PRODUCT))]
            yield CONTRADICTING_PRODUCT.at(each.at / "gpu" / "product", message, notes=notes)


def labels_miss_product(platform: Platform) -> Iterator[Diagnostic]:
    """Find GPU hardware whose labels say nothing about the model."""
    own = f"{platform.settings.domain}/"
    for each in hardware(platform):
        if each.gpu and not any(key == PRODUCT or key.startswith(own) for key in each.labels):
            labels = ", ".join(f"{key}={value}" for key, value in each.labels.items())
            yield LABELS_MISS_PRODUCT.at(each.at / "labels", f"{labels} selects nodes with any GPU")


def label_of_a_daemon(platform: Platform) -> Iterator[Diagnostic]:
    """Find labels that a discovery daemon sets: when one of them goes, the node leaves the pool."""
    for each in hardware(platform):
        for key in each.labels:
            if _DISCOVERED.match(key):
                message = f"`{key}` selects a `{each.name}`, and a daemon sets it"
                yield LABEL_OF_A_DAEMON.at((each.stated("labels") / key).key(), message)


def sliced_gpu(platform: Platform) -> Iterator[Diagnostic]:
    """Look at the product, and at labels of nodes whose GPUs are divided."""
    for each in hardware(platform):
        for what, at in _sliced(each):
            yield SLICED_GPU.at(at, f"the GPUs of a `{each.name}` are parts of cards: {what}")


def _sliced(each: Hardware) -> Iterator[tuple[str, Pointer]]:
    if each.gpu and _SLICED.search(each.gpu.product):
        yield each.gpu.product, each.at / "gpu" / "product"
    for key, whole in _WHOLE.items():
        if each.labels.get(key, whole) != whole:
            yield f"{key}={each.labels[key]}", each.at / "labels" / key


def foreign_label(platform: Platform) -> Iterator[Diagnostic]:
    """Find labels that belong to other kinds of object."""
    for each in hardware(platform):
        for key in each.labels:
            if (_KUBERNETES.match(key) and not _OF_NODES.match(key)) or _OF_OTHERS.match(key):
                message = f"`{key}` selects a `{each.name}`, but it is not a label of nodes"
                yield FOREIGN_LABEL.at((each.at / "labels" / key).key(), message)


def system_taint(platform: Platform) -> Iterator[Diagnostic]:
    """Find keys that are Kubernetes' own."""
    for each in hardware(platform):
        if _SYSTEM_TAINT.match(each.taint):
            yield SYSTEM_TAINT.at(each.at / "taint", f"`{each.taint}` of a `{each.name}` is not yours to set")


CHECKS = (
    Check(CONTRADICTING_PRODUCT, contradicting_product),
    Check(LABELS_MISS_PRODUCT, labels_miss_product, every=("trainyard.yaml",)),
    Check(LABEL_OF_A_DAEMON, label_of_a_daemon),
    Check(SLICED_GPU, sliced_gpu),
    Check(FOREIGN_LABEL, foreign_label),
    Check(SYSTEM_TAINT, system_taint),
)
