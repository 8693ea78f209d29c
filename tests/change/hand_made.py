"""A cluster as its API server stores the tree, and changes that somebody makes by hand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from typing import Any

from tests.rules.clusters import objects_of
from trainyard.facts.collect import of_dump
from trainyard.model.facts import Facts
from trainyard.model.live import AFTER
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.workflows.facts import scope_of

Body = dict[str, Any]
_STEP = re.compile(r"([^.\[\]]+)|\[([^\]]+)\]")
_BUILT_IN = re.compile(r"v1|rbac|networking|admissionregistration|batch")
_HAND = {"manager": "kubectl-edit", "operation": "Update", "time": "2026-11-20T10:11:12Z"}
_ARGOCD = {"manager": "argocd-controller", "operation": "Apply", "time": "2026-11-01T08:00:00Z"}


def key_of(body: Body) -> str:
    """Return an object as the table names it."""
    metadata = body["metadata"]
    return "/".join(filter(None, (body["kind"], metadata.get("namespace"), metadata["name"])))


def stored(site: Site, manifests: tuple[Manifest, ...]) -> dict[str, Body]:
    """Return the objects of a cluster after the sync, with what its server adds."""
    bodies = (_stored(deepcopy(body)) for body in objects_of(site, manifests, AFTER))
    return {key_of(body): body for body in bodies}


def read(site: Site, bodies: Iterable[Body]) -> Facts:
    """Return the facts of a cluster of which everything was read."""
    facts = of_dump(bodies, site.name, scope_of(site))
    return replace(facts, server="https://lab.example.com:6443", kubernetes="1.36.3", unread=())


def _stored(body: Body) -> Body:
    """Return an object as a server stores it: nothing empty, with defaults, status and managers."""
    if _BUILT_IN.match(body["apiVersion"]):
        body = _without_empty(body)
    metadata = body["metadata"]
    metadata |= {"uid": "0a1b", "resourceVersion": "12", "creationTimestamp": _ARGOCD["time"]}
    metadata["managedFields"] = [{**_ARGOCD, "fieldsV1": owned(body)}]
    metadata["annotations"] = metadata.get("annotations", {}) | {
        "kubectl.kubernetes.io/last-applied-configuration": "hidden"
    }
    name = metadata["name"]
    if body["kind"] == "Namespace":
        labels = metadata.setdefault("labels", {})
        labels |= {"kubernetes.io/metadata.name": name, "site.example.com/billed": "yes"}
        body |= {"spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}
    if body["kind"] == "PersistentVolumeClaim":
        body["spec"].setdefault("volumeName", f"pvc-{name}")
        body["status"] = {"phase": "Bound"}
    return body


def _without_empty(value: Any) -> Any:
    """Return a value without what Go's `omitempty` leaves out; empty mappings are pointers."""
    if isinstance(value, list):
        return [_without_empty(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {key: _without_empty(each) for key, each in value.items()}
    return {key: each for key, each in kept.items() if each not in ("", [], None)}


def owned(value: Any) -> Any:
    """Return the fields of a value as the API server lists them, without members of lists."""
    if not isinstance(value, dict):
        return {}
    return {f"f:{key}": owned(each) for key, each in value.items()}


def changed(objects: dict[str, Body], edit: dict[str, Any]) -> dict[str, Body]:
    """Return the objects of a cluster after a change of the table; all others are shared."""
    if new := edit.get("new"):
        body = {**deepcopy(new), "metadata": {**new["metadata"], "managedFields": [dict(_HAND)]}}
        return objects | {key_of(body): body}
    body = deepcopy(objects[edit["on"]])
    objects = {**objects, edit["on"]: body}
    if edit.get("gone"):
        del objects[edit["on"]]
    by_hand: list[str] = []
    for path, value in edit.get("set", {}).items():
        holder, step = _holder(body, path)
        holder[step] = value
        by_hand.append(path)
    for path, value in edit.get("add", {}).items():
        holder, step = _holder(body, path)
        holder[step] = [*holder[step], value]
        by_hand.append(path)
    for path in edit.get("drop", ()):
        holder, step = _holder(body, path)
        del holder[step]
        _disown(body["metadata"]["managedFields"][0]["fieldsV1"], path)
        by_hand += [path] if isinstance(holder, list) else []
    by_hand += _scaled(body, edit.get("scale", {}))
    fields: Body = {}
    for path in by_hand:
        _own(fields, body, path)
    body["metadata"]["managedFields"].append({**_HAND, "fieldsV1": fields})
    return objects


def _scaled(body: Body, factors: dict[str, float]) -> Iterator[str]:
    """Multiply the amounts of a ClusterQueue."""
    for field, factor in factors.items():
        for group in body["spec"]["resourceGroups"]:
            for flavor in group["flavors"]:
                for resource in flavor["resources"]:
                    resource[field] = _times(resource[field], Fraction(factor))
        yield "spec.resourceGroups"


def _times(amount: str, factor: Fraction) -> str:
    match = re.fullmatch(r"(\d+)(\w*)", amount)
    assert match
    return f"{int(int(match[1]) * factor)}{match[2]}"


def _own(fields: Body, body: Any, path: str) -> None:
    """Note the field at a path as managed, up to the first list, which is managed as a whole."""
    for plain, bracket in _STEP.findall(path):
        if isinstance(body, list):
            return
        body = body.get(plain or bracket)
        fields = fields.setdefault(f"f:{plain or bracket}", {})


def _disown(fields: Body, path: str) -> None:
    """Take the field at a path from its manager, as the server does with one that was removed."""
    *above, last = (f"f:{plain or bracket}" for plain, bracket in _STEP.findall(path))
    for step in above:
        fields = fields.get(step, {})
    fields.pop(last, None)


def _holder(body: Body, path: str) -> tuple[Any, Any]:
    """Return what has the last step of a path, and this step: a key or a number."""
    steps = [plain or bracket for plain, bracket in _STEP.findall(path)]
    value: Any = body
    for number, step in enumerate(steps):
        key: Any = step
        if isinstance(value, list):
            names = [each.get("name") for each in value]
            key = names.index(step) if step in names else int(step)
        if number == len(steps) - 1:
            return value, key
        value = value.setdefault(key, {}) if isinstance(value, dict) else value[key]
    raise AssertionError(path)
