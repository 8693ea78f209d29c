"""Find labels that select nodes but belong to other kinds of object."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._labels import selecting_keys

_KUBERNETES = re.compile(r"(?:[^/]*\.)?kubernetes\.io/")


_OF_NODES = re.compile(
    r"(?:beta\.)?kubernetes\.io/(?:arch|hostname|instance-type|os)\Z"
    r"|(?:[^/]*\.)?(?:kubelet|node|node-restriction|node-role|node\.cloudprovider|topology)"
    r"\.kubernetes\.io/"
    r"|failure-domain\.beta\.kubernetes\.io/"
)
"""Labels in Kubernetes' own domains that kubelet, cloud providers, feature discovery and
administrators set on nodes."""


_OF_OTHERS = re.compile(
    r"(?:[^/]*\.)?(?:argoproj\.io|external-secrets\.io|helm\.sh|jobset\.sigs\.k8s\.io"
    r"|k8s\.cni\.cncf\.io|jobset\.x-k8s\.io|kubeflow\.org|kueue\.x-k8s\.io|opendatahub\.io"
    r"|security\.openshift\.io)/|openshift\.io/"
)
"""Labels of namespaces, jobs, pods and applications, by the domain of the controller that reads
them there."""


RULE = Rule(
    id="node/foreign-label",
    severity=Severity.ERROR,
    summary="The labels that select nodes are node labels, not labels of namespaces, jobs or pods.",
    why="""
        The pool's jobs wait: Kueue looks for nodes with this label and finds none, because no
        kubelet, cloud provider or discovery daemon sets it on a node.
    """,
    fix="""
        Remove `labels`, so that the platform's own label selects the nodes; or use a label that the
        nodes have.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for key, nodes, at in selecting_keys(platform):
        if _is_foreign(key):
            yield RULE.at(at, f"label `{key}` selects {nodes}, but it is not a node label")


def _is_foreign(key: str) -> bool:
    """Return whether nothing sets a label on nodes."""
    if _KUBERNETES.match(key):
        return not _OF_NODES.match(key)
    return bool(_OF_OTHERS.match(key))


CHECK = Check(RULE, find)
