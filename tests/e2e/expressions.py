"""Which labels of which metrics an expression needs, by the syntax tree that Prometheus parses.

Shape of the tree: prometheus/prometheus:web/api/v1/translate_ast.go@v0.307.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Labels = frozenset[str]
Tree = dict[str, Any]
_NONE: Labels = frozenset()
_SETS = {"and", "or", "unless"}


@dataclass(frozen=True, slots=True)
class Need:
    """A metric, and the labels that all of its series that an expression reads must have."""

    metric: str
    labels: Labels


def needs(tree: Tree, labels: Labels = _NONE) -> Iterator[Need]:
    """Yield what an expression reads.

    Args:
        tree: of the expression.
        labels: that its result must have.

    Raises:
        ValueError: an aggregation or a match drops a label that its result must have.
    """
    kind = tree["type"]
    if kind in {"vectorSelector", "matrixSelector"}:
        matched = {each["name"] for each in tree["matchers"]} - {"__name__"}
        yield Need(tree["name"], labels | matched)
    elif kind in {"parenExpr", "subquery", "unaryExpr"}:
        yield from needs(tree["expr"], labels)
    elif kind == "aggregation":
        yield from needs(tree["expr"], _kept(labels, tree["grouping"], "aggregation"))
    elif kind == "call":
        yield from _of_call(tree, labels)
    elif kind == "binaryExpr":
        yield from _of_binary(tree, labels)


def _kept(labels: Labels, kept: list[str], what: str) -> Labels:
    if lost := labels - {*kept}:
        raise ValueError(f"the {what} by {kept} has no {sorted(lost)}")
    return frozenset(kept)


def _of_call(tree: Tree, labels: Labels) -> Iterator[Need]:
    name, arguments = tree["func"]["name"], tree["args"]
    if name == "label_replace":
        _, target, _, source, _ = (each.get("val", "") for each in arguments)
        labels = labels - {target} | {source}
    # What is absent has no label but those of its matchers.
    inner = _NONE if name == "absent" else labels
    for each in arguments:
        yield from needs(each, inner)


def _of_binary(tree: Tree, labels: Labels) -> Iterator[Need]:
    left, right = tree["lhs"], tree["rhs"]
    matching = tree["matching"]
    literals = [each["type"] == "numberLiteral" for each in (left, right)]
    if matching is None or any(literals):
        for each in (left, right):
            yield from needs(each, labels)
        return
    matched, included = frozenset(matching["labels"]), frozenset(matching["include"])
    both = matched if matching["on"] else _NONE
    if tree["op"] in _SETS:
        yield from needs(left, labels | both)
        yield from needs(right, labels if tree["op"] == "or" else both)
    elif matching["card"] == "many-to-one":
        yield from needs(left, labels - included | both)
        yield from needs(right, both | included)
    else:
        if matching["on"]:
            _kept(labels, matching["labels"], "match")
        yield from needs(left, labels | both)
        yield from needs(right, both)
