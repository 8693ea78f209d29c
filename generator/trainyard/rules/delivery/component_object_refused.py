"""Find objects of components with a name, key or label that the API server refuses.

Source: kubernetes/kubernetes:pkg/apis/core/validation/validation.go@v1.36.3 (ValidateConfigMap) and
staging/src/k8s.io/apimachinery/pkg/util/validation/validation.go (IsDNS1123Subdomain,
IsConfigMapKey, IsQualifiedName, IsValidLabelValue).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.diagnostics import Diagnostic, Rule, Severity, Step
from trainyard.model.lookup import mapping
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules._components import ComponentObject, component_objects, distinct

_LONGEST = 253
_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_NAME = re.compile(rf"{_LABEL}(\.{_LABEL})*")
_WORD = "[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_KEY = re.compile(rf"({_LABEL}(\.{_LABEL})*/)?{_WORD}")
_VALUE = re.compile(f"({_WORD})?")
_FILE = re.compile(r"(?!\.\.)(?!\.$)[-._a-zA-Z0-9]+")
_DATA = ("data", "binaryData")
_Found = tuple[tuple[Step, ...], str, bool]
"""The path of what is refused, its description, and whether the key itself is meant."""

RULE = Rule(
    id="delivery/component-object-refused",
    severity=Severity.ERROR,
    summary="""
        The API server accepts the name, the keys of `data`, and the labels of each object of a
        component.
    """,
    why="""
        The API server refuses the object, for example with `a lowercase RFC 1123 subdomain must
        consist of lower case alphanumeric characters` (seen with Argo CD 3.5.7). No sync of the
        team's unit ends, so what is withdrawn stays, such as a role.
    """,
    fix="""
        Use lower-case letters, digits, hyphens and dots in a name, and letters, digits, `-`, `_`
        and `.` in a key.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    yield from distinct(_findings(platform))


def _findings(platform: Platform) -> Iterator[Diagnostic]:
    for handwritten in component_objects(platform):
        if handwritten.served:
            for path, description, on_key in _refused(handwritten):
                at = handwritten.at.below(path)
                yield RULE.at(
                    at.key() if on_key else at, f"{handwritten.display} has {description}"
                )


def _refused(each: ComponentObject) -> Iterator[_Found]:
    metadata = mapping(each.body, "metadata")
    if not _fits(_NAME, metadata["name"]):
        yield ("metadata", "name"), "a name that no object can have", False
    for field in ("annotations", "labels"):
        yield from _refused_keys(metadata, field)
    if each.kind == "ConfigMap":
        yield from _refused_files(each.body)


def _refused_keys(metadata: dict[str, Any], field: str) -> Iterator[_Found]:
    for key, value in mapping(metadata, field).items():
        path = ("metadata", field, key)
        if not _fits(_KEY, key):
            yield path, f"the key `{key}` in {field}, which none can have", True
        elif field == "labels" and not _fits(_VALUE, value):
            yield path, f"a value of the label `{key}` that none can have", False


def _refused_files(body: dict[str, Any]) -> Iterator[_Found]:
    data, binary = (mapping(body, field) for field in _DATA)
    for field, keys in zip(_DATA, (data, binary), strict=True):
        for key in keys:
            if not _fits(_FILE, key):
                yield (field, key), f"the key `{key}` in {field}, which no file can have", True
    for key in binary:
        if key in data:
            yield (_DATA[1], key), f"the key `{key}` in both data and binaryData", True


def _fits(form: re.Pattern[str], text: Any) -> bool:
    """Return whether a text has a form; `verify` reports other values by the schema."""
    return not isinstance(text, str) or (len(text) <= _LONGEST and form.fullmatch(text) is not None)


CHECK = Check(RULE, find)
