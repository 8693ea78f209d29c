"""Go modules that describe kinds: Kubernetes' OpenAPI specification, and CRDs."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from trainyard import golang, programs
from trainyard.derivation.source import Gvk, Source, display, only, served
from trainyard.diagnostics import ToolError
from trainyard.plainfile import read_regular
from trainyard.yaml_io.foreign import read_foreign

_KUBERNETES = "k8s.io/kubernetes"


class Modules:
    """The modules of a ``go.mod``, unpacked and verified.

    Args:
        folder: of the ``go.mod`` and ``go.sum``.
        table: file that says where modules have their CRDs.

    Raises:
        ToolError: ``go`` is missing, or a checksum doesn't match.
    """

    name = "file of `crds.toml`"

    def __init__(self, folder: Path, table: Path) -> None:
        unpacked = modules(folder)
        kubernetes = unpacked.get(_KUBERNETES)
        self._core = (
            _specification(kubernetes / "api/openapi-spec/swagger.json") if kubernetes else {}
        )
        self._files = sorted(_files_of_crds(table, unpacked))

    def find(self, gvk: Gvk) -> Source | None:
        """Return what the modules say of a kind; None when none says anything.

        Raises:
            ToolError: several CRDs serve it, or none does and a module has others of its group: a
                schema of another version would be wrong.
        """
        found = self._core.get(gvk) or only(gvk, self._crds(gvk))
        if found is None and self._has_group(gvk[0]):
            raise ToolError(f"{display(gvk)} is served by no {self.name}")
        return found

    def _has_group(self, group: str) -> bool:
        """Return whether something of a group is in the modules."""
        crds = (_text(path) for _, _, path in self._files)
        return any(group == each for each, _, _ in self._core) or any(
            f"group: {group}\n" in text for text in crds
        )

    def _crds(self, gvk: Gvk) -> Iterator[Source]:
        group, _, kind = gvk
        for module, name, path in self._files:
            text = _text(path)
            # Some of these files have 20,000 lines, which take seconds to parse.
            if f"group: {group}\n" in text and f"kind: {kind}\n" in text:
                for document in read_foreign(text):
                    yield from served(document, gvk, (module, name))


def go_mod(name: str, required: Mapping[str, str]) -> str:
    """Return the ``go.mod`` of a release.

    Args:
        name: of the release.
        required: module -> version.
    """
    lines = (f"\t{module} {version} // indirect\n" for module, version in sorted(required.items()))
    return f"module trainyard/releases/{name}\n\ngo 1.21\n\nrequire (\n{''.join(lines)})\n"


def modules(folder: Path) -> dict[str, Path]:
    """Return where each module that a folder's ``go.mod`` requires is unpacked, verified.

    Raises:
        ToolError: ``go`` is missing, or a checksum doesn't match.
    """
    tool = programs.find("go")
    if tool is None:
        raise ToolError("deriving schemas needs the Go tool `go`")
    return golang.unpacked(tool, folder)


def _text(path: Path) -> str:
    """Return the content of a file of ours or of a verified module."""
    return read_regular(path.parent, path.name).decode()


def _specification(file: Path) -> dict[Gvk, Source]:
    """Return the kinds of Kubernetes itself."""
    openapi = json.loads(_text(file))
    paths = _created_at(openapi["paths"])
    found = {}
    for body in openapi["definitions"].values():
        for each in body.get("x-kubernetes-group-version-kind", ()):
            gvk = each["group"], each["version"], each["kind"]
            if path := paths.get(gvk):
                namespaced = "/namespaces/{namespace}/" in path
                plural = path.rpartition("/")[2]
                found[gvk] = Source(body, openapi["definitions"], plural, namespaced=namespaced)
    return found


def _created_at(paths: Mapping[str, Any]) -> dict[Gvk, str]:
    """Return the path that objects are created at, by group, version and kind.

    No definition holds its scope or its plural; the path ends with the plural.
    """
    created = {}
    for path, operations in paths.items():
        gvk = operations.get("post", {}).get("x-kubernetes-group-version-kind")
        if gvk and not path.endswith("}") and "{name}" not in path:
            created[gvk["group"], gvk["version"], gvk["kind"]] = path
    return created


def _files_of_crds(table: Path, unpacked: Mapping[str, Path]) -> Iterator[tuple[str, str, Path]]:
    """Yield module, name and path of each file of a release's modules that may be a CRD."""
    for module, patterns in tomllib.loads(_text(table)).items():
        if module in unpacked:
            folder = unpacked[module]
            for path in chain.from_iterable(map(folder.glob, patterns)):
                yield module, path.relative_to(folder).as_posix(), path
