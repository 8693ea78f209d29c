"""Find GPU hardware whose labels say nothing about the model."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._iterate import hardware
from trainyard.rules.node._labels import OTHER_NODES, PRODUCT

RULE = Rule(
    id="node/labels-miss-product",
    severity=Severity.WARNING,
    summary="Nodes with GPUs are selected by their product, or by a label of the platform's own.",
    why=f"Whatever has a GPU joins the pool, also what is bought later. {OTHER_NODES}",
    fix="""
        Leave `labels` out, so that the platform's own selects them; or add one below the settings'
        `domain`.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    own = f"{platform.settings.domain}/"
    for each in hardware(platform):
        if each.gpu and not any(key == PRODUCT or key.startswith(own) for key in each.labels):
            labels = ", ".join(f"{key}={value}" for key, value in each.labels.items())
            yield RULE.at(each.at / "labels", f"{labels} selects nodes with any GPU")


CHECK = Check(RULE, find, every=("trainyard.yaml",))
