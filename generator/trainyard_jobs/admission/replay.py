"""What the policies of a tree would refuse of a cluster's objects at their next start."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from trainyard.model.admission import Answer, Denial, Judge
from trainyard.model.lookup import mapping, text
from trainyard.model.manifest import Manifest
from trainyard_jobs.admission.bodies import Owner
from trainyard_jobs.admission.made import Dump, Made

Body = dict[str, Any]

_BINDING, _POLICY = "ValidatingAdmissionPolicyBinding", "ValidatingAdmissionPolicy"
_ADMISSION = "admission"
_LEVELS = "pod-security.kubernetes.io/"


@dataclass(frozen=True, slots=True, order=True)
class Refusal:
    """What a policy would refuse at the next start.

    Args:
        owner: of the pods, or the object itself.
        policy: its name; ``admission`` where an expression fails.
        messages: as the API server shows them, without repetitions.
        pods: number that run or wait now.
    """

    owner: Owner
    policy: str
    messages: tuple[str, ...]
    pods: int

    @property
    def key(self) -> tuple[str, str, str]:
        """Namespace, owner and policy, as a list of known refusals has them."""
        return *self.owner.words, self.policy


def enforced(manifests: Iterable[Manifest], dump: Dump) -> list[Manifest]:
    """Return a tree's objects as if every binding denied, and the namespaces of others.

    Pod Security of these is their own. Policies that count objects are left out: the evaluator
    knows no parameters but ConfigMaps.
    """
    given = _denying(list(manifests))
    there = {each.name for each in given if each.body["kind"] == "Namespace"}
    for name, body in _namespaces(dump).items():
        if name not in there:
            given.append(replace(given[0], path=f"{name}.yaml", body=body))
    return given


def refusals(judge: Judge, dump: Dump, made: Sequence[Made]) -> tuple[Refusal, ...]:
    """Return what would be refused at the next start, by owner and policy.

    Args:
        judge: of the cluster with what `enforced` returns.
        dump: its objects.
        made: the requests of these.

    Raises:
        ToolError: as `judge`.
    """
    found: dict[tuple[Owner, str], dict[str, None]] = {}
    for each, answer in zip(made, judge([each.request for each in made]), strict=True):
        for denial in answer.denials or _unnamed(answer):
            found.setdefault((each.owner, denial.policy), {})[denial.message] = None
    pods = Counter(map(dump.top, dump.pods))
    return tuple(
        Refusal(owner, policy, tuple(messages), pods[owner])
        for (owner, policy), messages in sorted(found.items())
    )


def _unnamed(answer: Answer) -> list[Denial]:
    """Return why an object is refused of which no validation failed: an expression did."""
    return [Denial(_ADMISSION, "", answer.error)] if answer.error else []


def _namespaces(dump: Dump) -> dict[str, Body]:
    """Return the namespaces of a dump, also those that it only names."""
    named = {text(body, "metadata", "namespace"): dict[str, Any]() for body in dump.bodies}
    for body in dump.bodies:
        if text(body, "kind") == "Namespace":
            named[text(body, "metadata", "name")] = body
    return {name: _namespace(name, body) for name, body in sorted(named.items()) if name}


def _counts(body: Body) -> bool:
    """Return whether an object is a policy whose parameter is not a ConfigMap."""
    return body["kind"] == _POLICY and text(body, "spec", "paramKind", "kind") not in {
        "",
        "ConfigMap",
    }


def _is_of(body: Body, policies: set[str]) -> bool:
    """Return whether an object is one of some policies, or a binding of one."""
    name = {_POLICY: ("metadata", "name"), _BINDING: ("spec", "policyName")}.get(body["kind"])
    return name is not None and text(body, *name) in policies


def _denying(manifests: Sequence[Manifest]) -> list[Manifest]:
    """Return a tree's objects with bindings that deny, without policies that count objects."""
    counting = {each.name for each in manifests if _counts(each.body)}
    return [_denied(each) for each in manifests if not _is_of(each.body, counting)]


def _denied(manifest: Manifest) -> Manifest:
    if manifest.body["kind"] != _BINDING:
        return manifest
    spec = {**manifest.body["spec"], "validationActions": ["Deny"]}
    return replace(manifest, body={**manifest.body, "spec": spec})


def _namespace(name: str, body: Body) -> Body:
    metadata = mapping(body, "metadata")
    labels = mapping(metadata, "labels").items()
    kept = {key: value for key, value in labels if not key.startswith(_LEVELS)}
    notes = mapping(metadata, "annotations")
    named = {"name": name, "labels": kept, "annotations": notes}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": named}
