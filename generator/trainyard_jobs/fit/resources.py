"""What the API server refuses in the resources of a container: every Job of it, not the TrainJob.

Source: kubernetes/kubernetes:pkg/apis/core/validation/validation.go@v1.36.3
(ValidateResourceRequirements) and pkg/apis/core/v1/helper/helpers.go (IsOvercommitAllowed).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.model.lookup import mapping
from trainyard.model.quantity import parse_amount
from trainyard_jobs.fit.case import Case
from trainyard_jobs.fit.limit_range import containers_of
from trainyard_jobs.fit.verdict import Check, Link, Standing

Body = dict[str, Any]

_NATIVE = "kubernetes.io/"
_HUGE = "hugepages-"


def resource_checks(case: Case) -> Iterator[Check]:
    """Yield each amount with which no pod of a job can be created; all are quantities."""
    for pods in case.pods:
        for container in containers_of(pods.template):
            whose = f"pods of {pods.role}: container {container.get('name')}"
            for fault in resource_faults(container):
                yield Check(Link.FORM, Standing.NEVER, f"{whose} {fault}")


def resource_faults(container: Body) -> Iterator[str]:
    """Yield what is wrong in the requests and limits of a container with its defaults."""
    limits = mapping(container, "resources", "limits")
    requests = mapping(container, "resources", "requests")
    for name, amount in {**limits, **requests}.items():
        if _is_counted(name) and parse_amount(str(amount)).denominator != 1:
            yield f"asks for {amount} {name}, which must be a whole number"
    for name, request in requests.items():
        if fault := _fault(name, request, limits.get(name)):
            yield f"requests {request} {name}{fault}"


def _fault(name: str, request: Any, limit: Any) -> str:
    """Return why a request does not go with its limit; empty if it does."""
    if limit is None:
        return "" if _is_shared(name) else " without a limit, which must be equal"
    asked, most = parse_amount(str(request)), parse_amount(str(limit))
    if asked == most or (asked < most and _is_shared(name)):
        return ""
    return f", and its limit of {limit} must {'not be less' if _is_shared(name) else 'be equal'}"


def _is_shared(name: str) -> bool:
    """Return whether pods may have a limit above what they request."""
    return not _is_counted(name) and not name.startswith(_HUGE)


def _is_counted(name: str) -> bool:
    """Return whether a device plugin counts a resource."""
    return "/" in name and _NATIVE not in name
