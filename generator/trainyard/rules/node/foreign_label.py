"""Find labels that belong to other kinds of object."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware

_KUBERNETES = re.compile(r"(?:[^/]*\.)?kubernetes\.io/")


_OF_NODES = re.compile(
    r"(?:beta\.)?kubernetes\.io/(?:arch|hostname|instance-type|os)\Z"
    r"|(?:[^/]*\.)?(?:kubelet|node|node-restriction|node-role|node\.cloudprovider|topology)\.kubernetes\.io/"
    r"|failure-domain\.beta\.kubernetes\.io/"
)
"""Below Kubernetes' own domain: what kubelet, cloud providers, feature discovery and administrators
set on nodes."""


_OF_OTHERS = re.compile(
    r"(?:[^/]*\.)?(?:argoproj\.io|external-secrets\.io|helm\.sh|jobset\.sigs\.k8s\.io|k8s\.cni\.cncf\.io"
    r"|jobset\.x-k8s\.io|kubeflow\.org|kueue\.x-k8s\.io|opendatahub\.io|security\.openshift\.io)/|openshift\.io/"
)
"""Labels of namespaces, jobs, pods and applications, by the domain of the controller that reads
them there."""


RULE = Rule(
    id="node/foreign-label",
    severity=Severity.ERROR,
    summary="The labels that select a node are labels of nodes, not of namespaces, jobs or pods.",
    why="""
        No kubelet, cloud provider or discovery sets such a label on a node. Kueue looks for nodes
        that carry it, finds none, and the pool's jobs wait.
    """,
    fix="""
        Use a label that the nodes have, or one below the settings' `domain`; or leave `labels` out.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for each in hardware(platform):
        for key in each.labels:
            if (_KUBERNETES.match(key) and not _OF_NODES.match(key)) or _OF_OTHERS.match(key):
                message = f"`{key}` selects a `{each.name}`, but it is not a label of nodes"
                yield RULE.at((each.at / "labels" / key).key(), message)


CHECK = Check(RULE, find)
