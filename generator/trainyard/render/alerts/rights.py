"""Who may run the commands of a runbook: members of the operators' role, or a cluster admin."""

from __future__ import annotations

import re
from itertools import product
from typing import Any, Final

from trainyard.model.platform import Site
from trainyard.render.templates import template

Right = tuple[str, str]
"""Verb and resource, e.g. ``("get", "pods/log")``. No two groups of a runbook share a resource."""

ADMIN: Final = "(cluster admin)"
"""Mark of a command that the operators' role does not permit."""

_COMMAND = re.compile(r"`((?:kubectl|oc) [^`]+)`")
_BEFORE_VERB = re.compile(r"^\S+ (?:adm )?(?:-n \S+ )?")
_FORMS: Final = (
    (r"(?:get|describe) ([a-z,]+)", "get list", ""),
    (r"delete ([a-z]+)", "delete", ""),
    (r"patch ([a-z]+)", "patch", ""),
    (r"rollout restart ([a-z]+)", "get patch", ""),
    (r"logs (deployment)/", "get", ""),
    (r"logs ", "get", "pods/log"),
    (r"(?:un)?cordon ", "get patch", "nodes"),
    (r"debug ", "create", "pods"),
    (r"exec ", "create get", "pods/exec"),
)
"""Form of a command -> its verbs, and its resource where the command does not name it."""


def commands(text: str) -> list[str]:
    """Return the commands for a cluster in a Markdown text."""
    return _COMMAND.findall(text)


def needed(command: str) -> frozenset[Right]:
    """Return the rights that a command needs; none if its form is unknown."""
    plain = _BEFORE_VERB.sub("", command)
    for form, verbs, resource in _FORMS:
        if match := re.match(form, plain):
            names = (resource or match[1]).split(",")
            return frozenset(product(verbs.split(), map(_plural, names)))
    return frozenset()


def _plural(name: str) -> str:
    return name if name.endswith("s") or "/" in name else f"{name}s"


def permitted(role: dict[str, Any]) -> frozenset[Right]:
    """Return the rights that a ClusterRole gives."""
    rights: set[Right] = set()
    for rule in role["rules"]:
        rights.update(product(rule["verbs"], rule["resources"]))
    return frozenset(rights)


def of_operators(site: Site) -> frozenset[Right]:
    """Return the rights of the operators' role of a cluster."""
    scope = {"cluster": site.cluster, "site": site}
    return permitted(template("platform/cluster-role-operator")(scope))


def marked(step: str, rights: frozenset[Right]) -> str:
    """Return a step with a mark at each command for which some rights do not suffice."""

    def mark(match: re.Match[str]) -> str:
        wanted = needed(match[1])
        return match[0] if wanted and wanted <= rights else f"{match[0]} {ADMIN}"

    return _COMMAND.sub(mark, step)
