"""Reactions of the machine config operator, and of people who set up nodes and logs by hand."""

from __future__ import annotations

from functools import partial

from trainyard.change.impact import reach
from trainyard.change.impact.reaction import ANY, Effect, Reaction, quiet

_DAEMON = "openshift/machine-config-operator:pkg/daemon/update.go@53e78f3692ee"
_REBOOTS = (
    "The operator empties each node of the pool and reboots it, unless the cluster's node "
    "disruption policy says otherwise. A job with a pod there fails, and starts again only if its "
    "runtime has `restarts`."
)
_BY_HAND = (
    "Nothing happens by itself: the owner of the nodes empties each, installs the file and "
    "restarts kubelet."
)


def _reboots(kind: str, change: str, cause: str, fields: str = ANY) -> Reaction:
    return Reaction(
        kind=kind,
        change=change,
        fields=fields,
        effect=Effect.REBOOTS,
        cause=cause,
        consequence=_REBOOTS,
        source=_DAEMON,
        reach=reach.pool,
        pace="MachineConfigPool",
    )


_OPENSHIFT = (
    _reboots("MachineConfigPool", "created", "pool `{pool}` gets its own machine configuration"),
    _reboots(
        "MachineConfigPool", "changed", "node labels of pool `{pool}` change", "spec.nodeSelector"
    ),
    _reboots(
        "MachineConfigPool",
        "changed",
        "machine configuration of pool `{pool}` changes",
        "spec.machineConfigSelector",
    ),
    *quiet(
        "MachineConfigPool",
        "openshift/machine-config-operator:pkg/controller/node/node_controller.go@53e78f3692ee",
        changed="It holds for the next reboot: `maxUnavailable` nodes at a time.",
    ),
    _reboots("MachineConfigPool", "deleted", "pool `{pool}` loses its own machine configuration"),
    _reboots("MachineConfig", "created", "pool `{pool}` gets its own machine configuration"),
    _reboots("MachineConfig", "changed", "machine configuration of pool `{pool}` changes", "spec"),
    _reboots(
        "MachineConfig",
        "changed",
        "machine configuration of pool `{pool}` changes",
        "metadata.labels.machineconfiguration.openshift.io/role",
    ),
    *quiet("MachineConfig", _DAEMON, changed="The pool's configuration stays the same."),
    _reboots("MachineConfig", "deleted", "machine configuration of pool `{pool}` is removed"),
    _reboots("KubeletConfig", "created", "kubelet of pool `{pool}` gets its own configuration"),
    _reboots("KubeletConfig", "changed", "kubelet of pool `{pool}` changes", "spec"),
    *quiet("KubeletConfig", _DAEMON, changed="The pool's configuration stays the same."),
    _reboots("KubeletConfig", "deleted", "kubelet of pool `{pool}` loses its own configuration"),
)

_KUBELET = "kubernetes/kubernetes:cmd/kubelet/app/server.go@v1.36.3"
_kubelet = partial(Reaction, kind="KubeletConfiguration", change="changed")
_PLAIN = (
    Reaction(
        kind="KubeletConfiguration",
        change="created",
        effect=Effect.DRAINS,
        cause="kubelet of pool `{pool}` gets its own configuration",
        consequence=_BY_HAND,
        source=_KUBELET,
        reach=reach.pool,
    ),
    _kubelet(
        fields="containerLogMaxSize",
        consequence="Nothing happens by itself: the owner of the nodes installs the file and "
        "restarts kubelet. Pods run on, and their logs are rotated at the new size.",
        source="kubernetes/kubernetes:pkg/kubelet/logs/container_log_manager.go@v1.36.3",
    ),
    _kubelet(
        fields="podPidsLimit",
        consequence="Nothing happens by itself: the owner of the nodes installs the file and "
        "restarts kubelet. Running pods keep their limit, new pods get the new one.",
        source="kubernetes/kubernetes:pkg/kubelet/cm/pod_container_manager_linux.go@v1.36.3",
    ),
    _kubelet(
        effect=Effect.DRAINS,
        cause="kubelet of pool `{pool}` changes",
        consequence=_BY_HAND,
        source=_KUBELET,
        reach=reach.pool,
    ),
    *quiet(
        "KubeletConfiguration",
        _KUBELET,
        deleted="The file stays on the nodes until their owner removes it.",
    ),
    *quiet(
        "Policy",
        "kubernetes/kubernetes:staging/src/k8s.io/apiserver/pkg/server/options/audit.go@v1.36.3",
        created="Nothing happens until the owner of the API server loads the file.",
        changed="Nothing happens until the owner of the API server loads the file.",
        deleted="The API server keeps the policy that it started with.",
    ),
)

_LOGGING = quiet(
    "ClusterLogForwarder",
    "openshift/cluster-logging-operator:docs/administration/clusterlogforwarder.adoc@1215c349cef8",
    created="Nothing happens until the owner of OpenShift's logging applies the file.",
    changed="Nothing happens until the owner of OpenShift's logging applies the file.",
    deleted="A forwarder that was made from the file stays until its owner deletes it.",
)

REACTIONS = (*_OPENSHIFT, *_PLAIN, *_LOGGING)
