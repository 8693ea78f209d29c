"""Where a release's modules describe a kind: Kubernetes' OpenAPI specification, and CRDs."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import yaml

from tools.strict import Schema
from trainyard import programs
from trainyard.diagnostics import ToolError

_KUBERNETES = "k8s.io/kubernetes"

Gvk = tuple[str, str, str]
"""Group (empty for the core group), version and kind."""


@dataclass(frozen=True, slots=True)
class Source:
    """What a source says of a kind.

    Args:
        crd: module and file; empty for a kind of Kubernetes itself.
    """

    openapi: Schema
    definitions: Mapping[str, Schema]
    plural: str
    _: KW_ONLY
    namespaced: bool
    crd: tuple[str, str] = ("", "")


def find_sources(release: Path, wanted: Iterable[Gvk]) -> dict[Gvk, Source]:
    """Return what the modules of a release's ``go.mod`` say of some kinds.

    Raises:
        ToolError: ``go`` is missing, a checksum doesn't match, or not exactly one source has a
            kind.
    """
    unpacked = modules(release)
    core = _specification(unpacked[_KUBERNETES] / "api/openapi-spec/swagger.json")
    files = sorted(_files_of_crds(release.parent / "crds.toml", unpacked))
    return {gvk: core.get(gvk) or _crd(gvk, files) for gvk in wanted}


def modules(folder: Path) -> dict[str, Path]:
    """Return where each module that a folder's ``go.mod`` requires is unpacked, verified.

    Raises:
        ToolError: ``go`` is missing, or a checksum doesn't match.
    """
    required = json.loads(_go(folder, "mod", "edit", "-json"))["Require"]
    found = _go(
        folder,
        "mod",
        "download",
        "-json",
        *(f"{each['Path']}@{each['Version']}" for each in required),
    )
    # The answer is one JSON object a module, one after the other.
    parts = json.loads("[" + found.replace("\n}\n{", "\n},\n{") + "]")
    return {part["Path"]: Path(part["Dir"]) for part in parts}


def _go(release: Path, *arguments: str) -> str:
    """Run the Go tool in the release folder."""
    tool = programs.find("go")
    if tool is None:
        raise ToolError("deriving schemas needs the Go tool `go`")
    environment = {**os.environ, "GOFLAGS": "-mod=mod", "GOWORK": "off"}
    done = programs.run(
        [tool, *arguments],
        cwd=release,
        environment=environment,
        timeout=programs.AN_HOUR,
    )
    return done.stdout


def _specification(file: Path) -> dict[Gvk, Source]:
    """Return the kinds of Kubernetes itself."""
    openapi = json.loads(file.read_text(encoding="utf-8"))
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
    for module, patterns in tomllib.loads(table.read_text(encoding="utf-8")).items():
        if module in unpacked:
            folder = unpacked[module]
            for path in chain.from_iterable(map(folder.glob, patterns)):
                yield module, path.relative_to(folder).as_posix(), path


def _crd(gvk: Gvk, files: Iterable[tuple[str, str, Path]]) -> Source:
    """Return the only CRD that serves a kind.

    Raises:
        ToolError: there is none, or more than one.
    """
    group, version, kind = gvk
    found = []
    for module, name, path in files:
        text = path.read_text(encoding="utf-8")
        # Some of these files have 20,000 lines, which take seconds to parse.
        if f"group: {group}\n" in text and f"kind: {kind}\n" in text:
            found += [
                Source(schema, {}, plural, namespaced=namespaced, crd=(module, name))
                for schema, plural, namespaced in _served(text, gvk)
            ]
    if len(found) != 1:
        servers = ", ".join(" ".join(each.crd) for each in found) or "no file of `crds.toml`"
        raise ToolError(f"{kind} in {group}/{version} is served by {servers}")
    return found[0]


def _served(text: str, gvk: Gvk) -> Iterator[tuple[Schema, str, bool]]:
    """Yield schema, plural and scope of a kind from each CRD in a file that serves it."""
    group, version, kind = gvk
    for document in yaml.load_all(text, Loader=yaml.CSafeLoader):
        spec = (document or {}).get("spec", {})
        if (spec.get("group"), spec.get("names", {}).get("kind")) == (group, kind):
            for each in spec["versions"]:
                if each["name"] == version and each["served"]:
                    schema = each["schema"]["openAPIV3Schema"]
                    yield schema, spec["names"]["plural"], spec["scope"] == "Namespaced"
