"""LimitRanges: the amounts that a container gets, and those that it may not have.

Source: kubernetes/kubernetes:plugin/pkg/admission/limitranger/admission.go@v1.36.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from trainyard.model.lookup import mapping, mappings
from trainyard.model.quantity import in_base_units

Body = dict[str, Any]

_LISTS = ("containers", "initContainers")


def containers_of(template: Body) -> tuple[Body, ...]:
    """Return the containers of a pod template, those that run before the others included."""
    return (*mappings(template, "spec", _LISTS[0]), *mappings(template, "spec", _LISTS[1]))


def with_defaults(template: Body, ranges: Sequence[Body]) -> Body:
    """Return a pod template whose containers have the default requests and limits."""
    spec = dict(mapping(template, "spec"))
    for name in _LISTS:
        if name in spec:
            spec[name] = [_container(container, ranges) for container in mappings(spec, name)]
    return {**template, "spec": spec}


def _container(container: Body, ranges: Sequence[Body]) -> Body:
    limits = mapping(container, "resources", "limits")
    # The API server copies limits to requests before a LimitRange is applied.
    requests = {**limits, **mapping(container, "resources", "requests")}
    for item in _items(ranges):
        limits = {**mapping(item, "default"), **limits}
        requests = {**mapping(item, "defaultRequest"), **requests}
    return {**container, "resources": {"limits": limits, "requests": requests}}


def refusals(template: Body, ranges: Sequence[Body]) -> Iterator[str]:
    """Yield each amount of a container that is below a minimum or above a maximum."""
    for container, item in product(containers_of(template), _items(ranges)):
        yield from _out_of_range(container, item)


def _out_of_range(container: Body, item: Body) -> Iterator[str]:
    name, resources = container.get("name"), mapping(container, "resources")
    for resource, least in mapping(item, "min").items():
        if _amount(resources, "requests", resource) < in_base_units(resource, str(least)):
            yield f"container {name} requests less {resource} than {least}"
    for resource, most in mapping(item, "max").items():
        if _amount(resources, "limits", resource) > in_base_units(resource, str(most)):
            yield f"container {name} has a limit of more {resource} than {most}"


def _amount(resources: Body, kind: str, resource: str) -> int:
    return in_base_units(resource, str(mapping(resources, kind).get(resource, "0")))


def _items(ranges: Sequence[Body]) -> Iterator[Body]:
    """Yield what LimitRanges state for containers."""
    for body in ranges:
        for item in mappings(body, "spec", "limits"):
            if item.get("type") == "Container":
                yield item
