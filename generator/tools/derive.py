"""Derive the manifest schemas and plurals of every release from the sources that it pins.

Run it after a new kind in the templates, and after a change to ``crds.toml``, ``handwritten/`` or a
release's ``go.mod``::

    python -m tools.derive [--check]

The kinds of a release are those that its templates write and its components may contain.
A kind that is in no file of ``handwritten/`` comes from Kubernetes' OpenAPI specification, or from
a CRD of one of the release's modules.

It runs ``go mod download``, which verifies each module against the committed ``go.sum`` (and the
public checksum database), reads CRDs as they were published, and writes
``schemas/<group>/<kind>_<version>.json``; the core group is under its version (``schemas/v1``),
as kubeconform names it. ``crds.json`` lists the files of the CRDs, ``plurals.yaml`` the plurals.
``shipped.sha256`` lists the digests of the schemas: Trainyard refuses one that differs.
``--check`` writes nothing and fails when a committed file differs.
It reads YAML with PyYAML: CRDs are not profiles, and the strict reader would reject them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tools.sources import Gvk, Source, find_sources
from tools.strict import Schema, manifest_schema
from trainyard.profiles.inherited import whole
from trainyard.profiles.read import PACKAGE
from trainyard.render.catalog import CATALOG, DELIVERY, Entry
from trainyard.render.templates import type_of
from trainyard.shipped import write_lists

_RELEASES = Path(__file__).parents[1] / "trainyard" / "releases"
_PLURALS = "# Written by `python -m tools.derive`: the plural of each kind that is served.\n"
_PLURAL = "x-plural"
"""Keyword of a handwritten schema: the plural of a kind that an API server serves."""

_KUSTOMIZE = "kustomize.config.k8s.io"
"""Group of the files that no template writes."""


@dataclass(frozen=True, slots=True)
class Derived:
    """What a release's sources say of its kinds.

    Args:
        schemas: file contents by path below ``schemas/``.
        plurals: by kind and group, e.g. ``Topology.kueue.x-k8s.io``.
        crds: module and file of each CRD, sorted.
    """

    schemas: Mapping[str, bytes]
    plurals: Mapping[str, str]
    crds: Sequence[tuple[str, str]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the schemas of every release; return the exit code (1: a file differs)."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.derive", description="derive manifest schemas"
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail when a committed schema differs"
    )
    check = parser.parse_args(arguments).check
    differing = 0
    for file in sorted(_RELEASES.glob("*/release.yaml")):
        release = file.parent
        wanted = _files(derive(release, kinds(release)))
        for name in sorted(_differing(release, wanted)):
            differing += 1
            sys.stdout.write(f"{release.name}/{name}\n")
        if not check:
            _write(release, wanted)
    if not check:
        write_lists(PACKAGE)
    return int(check and differing > 0)


def kinds(release: Path) -> set[Gvk]:
    """Return the kinds that a release's templates write and its components may contain."""
    stated = {
        file.parent.name: yaml.safe_load(file.read_text(encoding="utf-8"))
        for file in release.parent.glob("*/release.yaml")
    }
    fields = whole(release.name, stated)
    entries: tuple[Entry[Any], ...] = (*CATALOG, *DELIVERY)
    written = {
        _gvk(*type_of(entry.template)) for entry in entries if entry.is_in(fields["features"])
    }
    return written | {_gvk(version, kind) for kind, version in fields["componentKinds"].items()}


def _gvk(api_version: str, kind: str) -> Gvk:
    group, _, version = api_version.rpartition("/")
    return group, version, kind


def derive(release: Path, wanted: Collection[Gvk]) -> Derived:
    """Return what the sources of a release say of some kinds, and of Kustomize's own.

    A schema that is written by hand is the only source of its kind.

    Raises:
        ToolError: ``go`` is missing, a checksum doesn't match, or not exactly one source has a
            kind.
    """
    schemas, plurals = _handwritten(release.parent / "handwritten", set(map(_path, wanted)))
    sources = find_sources(release, [gvk for gvk in wanted if _path(gvk) not in schemas])
    for gvk, source in sources.items():
        schemas[_path(gvk)], plurals[_key(gvk)] = _schema(gvk, source), source.plural
    encoded = {name: _encode(schema) for name, schema in sorted(schemas.items())}
    crds = sorted(source.crd for source in sources.values() if any(source.crd))
    return Derived(encoded, plurals, crds)


def _handwritten(folder: Path, wanted: Collection[str]) -> tuple[dict[str, Schema], dict[str, str]]:
    """Return schemas by path, and plurals by kind and group."""
    schemas, plurals = {}, {}
    for path in sorted(folder.rglob("*.json")):
        name = path.relative_to(folder).as_posix()
        if name in wanted or path.parent.name == _KUSTOMIZE:
            schema = json.loads(path.read_text(encoding="utf-8"))
            if plural := schema.pop(_PLURAL, ""):
                kind = schema["properties"]["kind"]["const"]
                plurals[f"{kind}.{path.parent.name}"] = plural
            schemas[name] = schema
    return schemas, plurals


def _schema(gvk: Gvk, source: Source) -> Schema:
    """Return the strict schema of a kind."""
    group, version, kind = gvk
    api_version = f"{group}/{version}" if group else version
    return manifest_schema(
        api_version, kind, source.openapi, source.definitions, namespaced=source.namespaced
    )


def _path(gvk: Gvk) -> str:
    """Return a kind's path below ``schemas/``."""
    group, version, kind = gvk
    return f"{group or version}/{kind.lower()}_{version}.json"


def _key(gvk: Gvk) -> str:
    group, _, kind = gvk
    return f"{kind}.{group}".rstrip(".")


def _files(derived: Derived) -> dict[str, bytes]:
    """Return the derived files of a release by path."""
    files = {f"schemas/{name}": content for name, content in derived.schemas.items()}
    plurals = (f"{kind}: {plural}\n" for kind, plural in sorted(derived.plurals.items()))
    return {
        **files,
        "shipped.sha256": _digests(files),
        "plurals.yaml": "".join([_PLURALS, *plurals]).encode(),
        "crds.json": (json.dumps(derived.crds, indent=2) + "\n").encode(),
    }


def _encode(schema: Any) -> bytes:
    return (
        json.dumps(schema, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
    ).encode()


def _digests(files: Mapping[str, bytes]) -> bytes:
    """Return the list that `sha256sum --check` takes in the release's folder."""
    lines = (
        f"{hashlib.sha256(content).hexdigest()}  {name}\n"
        for name, content in sorted(files.items())
    )
    return "".join(lines).encode()


def _differing(release: Path, wanted: Mapping[str, bytes]) -> set[str]:
    """Return the paths of derived files that are missing, different or extra in a release."""
    files = [release / name for name in ("shipped.sha256", "plurals.yaml", "crds.json")]
    files += (release / "schemas").rglob("*")
    present = {
        path.relative_to(release).as_posix(): path.read_bytes() for path in files if path.is_file()
    }
    return {
        name for name in wanted.keys() | present.keys() if wanted.get(name) != present.get(name)
    }


def _write(release: Path, wanted: Mapping[str, bytes]) -> None:
    """Make a release's folder hold exactly the wanted derived files."""
    for name in _differing(release, wanted):
        path = release / name
        if name not in wanted:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(wanted[name])


if __name__ == "__main__":
    sys.exit(main())
