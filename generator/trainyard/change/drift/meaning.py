"""What the edit of a label or of a policy's binding means, where no sentence of `diff` has it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.change.impact.facts import FactChange
from trainyard.change.impact.values import NONE, differing_or_absent
from trainyard.change.objects import Objects, Sides, of_kind
from trainyard.model.lookup import mapping, text, texts

_ACTIONS = "does with what it refuses"


def facts_of(sides: Sides) -> tuple[FactChange, ...]:
    """Return the labels of namespaces and the actions of policies that differ, sorted."""
    return (*_actions(sides), *_labels(sides))


def _labels(sides: Sides) -> Iterator[FactChange]:
    """Yield the labels of namespaces on both sides: policies, Kueue and Pod Security read them."""
    before, after = dict(_of_namespaces(sides.before)), dict(_of_namespaces(sides.after))
    stay = {namespace for namespace, _ in before} & {namespace for namespace, _ in after}
    for (namespace, label), old, new in differing_or_absent(before, after, NONE):
        if namespace in stay:
            yield FactChange("Access", (namespace,), f"label {label}", old, new)


def _of_namespaces(objects: Objects) -> Iterator[tuple[tuple[str, str], str]]:
    for namespace in of_kind(objects, "Namespace"):
        for label, value in mapping(namespace.body, "metadata", "labels").items():
            yield (namespace.name, label), str(value)


def _actions(sides: Sides) -> Iterator[FactChange]:
    """Yield what bindings of admission policies do with a request that the policy refuses."""
    before, after = dict(_of_bindings(sides.before)), dict(_of_bindings(sides.after))
    for (policy, _), old, new in differing_or_absent(before, after, NONE):
        yield FactChange("Access", (f"policy {policy}",), _ACTIONS, old, new)


def _of_bindings(objects: Objects) -> Iterator[tuple[tuple[str, str], str]]:
    for binding in of_kind(objects, "ValidatingAdmissionPolicyBinding"):
        actions = ", ".join(texts(binding.body, "spec", "validationActions"))
        yield (text(binding.body, "spec", "policyName"), binding.name), actions or NONE
