"""The CRDs of a cluster, as ``kubectl get crd -o json`` prints them."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from trainyard.derivation.source import Gvk, Source, display, only, served
from trainyard.diagnostics import TreeError

_KIND = "CustomResourceDefinition"
_VERSION = "apiextensions.k8s.io/v1"


class Dump:
    """The CRDs of a cluster.

    Args:
        name: of the file, for messages.
        bodies: its objects; those of other kinds are passed over.

    Raises:
        TreeError: a CRD has a version of its API that is not read, or there is none.
    """

    def __init__(self, name: str, bodies: Iterable[Any]) -> None:
        self.name = name
        self._crds: dict[tuple[str, str], list[Any]] = defaultdict(list)
        for body in bodies:
            if body.get("kind") != _KIND:
                continue
            if body.get("apiVersion") != _VERSION:
                raise TreeError(
                    f"{name} has a {_KIND} of {_brief(body.get('apiVersion'))}, and "
                    f"needs {_VERSION}: write it with `kubectl get crd -o json`"
                )
            self._crds[self._names(body)].append(body)
        if not self._crds:
            raise TreeError(f"{name} has no {_KIND}: write it with `kubectl get crd -o json`")

    def _names(self, body: Any) -> tuple[str, str]:
        """Return group and kind of a CRD."""
        try:
            return str(body["spec"]["group"]), str(body["spec"]["names"]["kind"])
        except (KeyError, TypeError) as error:
            raise TreeError(f"{self.name} has a CRD without a group or kind") from error

    def digest(self, gvk: Gvk) -> str:
        """Return the SHA-256 of the specification of a kind's CRD."""
        group, _, kind = gvk
        (crd,) = self._crds[group, kind]
        return hashlib.sha256(json.dumps(crd["spec"], sort_keys=True).encode()).hexdigest()

    def find(self, gvk: Gvk) -> Source | None:
        """Return what the cluster says of a kind; None when it has no CRD of it.

        Raises:
            ToolError: several CRDs serve it.
            TreeError: its CRD does not serve the version, or has another form; or the cluster
                lacks the kind and has others of its group.
        """
        group, _, kind = gvk
        crds = self._crds.get((group, kind), [])
        found, versions = self._described(gvk, crds)
        if found is None and crds:
            raise TreeError(
                f"{self.name}: the CRD of {display(gvk)} does not serve this version, which "
                f"Trainyard writes; it has {versions}"
            )
        if found is None and group in {each for each, _ in self._crds}:
            raise TreeError(f"{self.name} has CRDs of {group}, and none of its {kind}")
        return found

    def _described(self, gvk: Gvk, crds: list[Any]) -> tuple[Source | None, str]:
        """Return what the CRDs of a kind describe, and the versions that they have."""
        try:
            found = only(gvk, (source for crd in crds for source in served(crd, gvk)))
            versions = [_brief(each["name"]) for crd in crds for each in crd["spec"]["versions"]]
        except (AttributeError, KeyError, TypeError) as error:
            raise TreeError(f"{self.name}: the CRD of {display(gvk)} has another form") from error
        return found, ", ".join(versions)


def _brief(value: Any) -> str:
    return repr(value)[:60]
