"""What a source says of a kind, and the CRD that says it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Protocol

from trainyard.derivation.strict import Schema
from trainyard.diagnostics import ToolError

Gvk = tuple[str, str, str]
"""Group (empty for the core group), version and kind."""


@dataclass(frozen=True, slots=True)
class Source:
    """What a source says of a kind.

    Args:
        crd: module and file; empty for a kind of Kubernetes itself, and for a CRD of a cluster.
    """

    openapi: Schema
    definitions: Mapping[str, Schema]
    plural: str
    _: KW_ONLY
    namespaced: bool
    crd: tuple[str, str] = ("", "")


class Sources(Protocol):
    """Where kinds are described: Go modules, or the CRDs of a cluster."""

    @property
    def name(self) -> str:
        """For messages: where it was looked."""

    def find(self, gvk: Gvk) -> Source | None:
        """Return the description of a kind; None when there is none.

        Raises:
            ToolError: several CRDs serve it, or its CRD does not serve the version.
        """


def display(gvk: Gvk) -> str:
    """Return a kind for messages."""
    group, version, kind = gvk
    return f"{kind} in {group}/{version}"


def key(gvk: Gvk) -> str:
    """Return a kind with its group, e.g. ``Topology.kueue.x-k8s.io``."""
    group, _, kind = gvk
    return f"{kind}.{group}".rstrip(".")


def only(gvk: Gvk, found: Iterable[Source]) -> Source | None:
    """Return the only source of a kind; None when there is none.

    Raises:
        ToolError: there are several.
    """
    sources = list(found)
    if len(sources) > 1:
        servers = ", ".join(" ".join(each.crd).strip() or "a CRD" for each in sources)
        raise ToolError(f"{display(gvk)} is served by {servers}")
    return next(iter(sources), None)


def served(document: Any, gvk: Gvk, crd: tuple[str, str] = ("", "")) -> Iterator[Source]:
    """Yield what a CRD says of a kind, when it serves it.

    Args:
        document: a CustomResourceDefinition, or anything else that stood beside one.
        gvk: the kind.
        crd: where it is.

    Raises:
        KeyError, TypeError, AttributeError: it has not the form of a CRD.
    """
    group, version, kind = gvk
    spec = (document or {}).get("spec", {})
    if (spec.get("group"), spec.get("names", {}).get("kind")) == (group, kind):
        for each in spec["versions"]:
            if each["name"] == version and each["served"]:
                yield Source(
                    each["schema"]["openAPIV3Schema"],
                    {},
                    spec["names"]["plural"],
                    namespaced=spec["scope"] == "Namespaced",
                    crd=crd,
                )
