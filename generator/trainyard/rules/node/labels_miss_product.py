"""Find GPU hardware whose labels select nodes with any GPU."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.hardware import Hardware
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import all_settings, hardware
from trainyard.rules._labels import as_selector
from trainyard.rules.node._labels import OTHER_NODES

RULE = Rule(
    id="node/labels-miss-product",
    severity=Severity.WARNING,
    summary="""
        Nodes with GPUs are selected by their product, or by a label of a domain whose owner
        sets it.
    """,
    why=f"""
        Daemons, kubelet and clouds set the label: every node with a GPU joins the pool, including
        nodes that are bought later. {OTHER_NODES}
    """,
    fix="""
        Remove `labels`, so that the platform's own label selects the nodes; or add a label of your
        domain, which you set on nodes with this product only.
    """,
)


_MACHINES = (
    *("amd.com", "azure.com", "google.com", "habana.ai", "intel.com", "k8s.io", "kubernetes.io"),
    *("nvidia.com", "openshift.io"),
)
"""Domains of labels that discovery, kubelet, operators and clouds set on nodes by themselves."""


def find(platform: Platform) -> Iterator[Diagnostic]:
    own = tuple(f"{each.domain}/" for each in all_settings(platform))
    for node_type in hardware(platform):
        if node_type.gpu and not _names_product(node_type, own):
            message = f"{as_selector(node_type.labels)} selects nodes with any GPU"
            yield RULE.at(node_type.at / "labels", message)


def _names_product(node_type: Hardware, own: tuple[str, ...]) -> bool:
    """Return whether some label is that of the product, or one that people set."""
    product = node_type.maker.label if node_type.maker else ""
    return any(
        key == product or key.startswith(own) or not _is_of_a_machine(key)
        for key in node_type.labels
    )


def _is_of_a_machine(key: str) -> bool:
    """Return whether machines set a label; nobody says who sets one without a domain."""
    domain = key.rpartition("/")[0]
    return not domain or f".{domain}".endswith(tuple(f".{each}" for each in _MACHINES))


CHECK = Check(RULE, find, every=("trainyard.yaml",))
