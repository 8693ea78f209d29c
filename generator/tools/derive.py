"""Derive the manifest schemas and plurals of every release from the sources that it pins.

Run it after a change to a release's ``kinds.toml``, ``go.mod`` or ``handwritten/``::

    python -m tools.derive [--check]

It runs ``go mod download``, which verifies each module against the committed ``go.sum`` (and the
public checksum database), reads CRDs as they were published, and writes
``schemas/<group>/<kind>_<version>.json``; the core group is under its version (``schemas/v1``),
as kubeconform names it. ``shipped.sha256`` lists their digests: Trainyard refuses a
schema that differs from it. ``--check`` writes nothing and fails when a committed schema differs.
It reads YAML with PyYAML: CRDs are not profiles, and the strict reader would reject them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from tools.strict import Schema, manifest_schema
from trainyard import programs
from trainyard.diagnostics import ToolError

_RELEASES = Path(__file__).parents[1] / "trainyard" / "releases"


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
    for table in sorted(_RELEASES.glob("*/kinds.toml")):
        schemas, plurals = derive(table.parent)
        wanted = {f"schemas/{name}": content for name, content in schemas.items()}
        wanted["shipped.sha256"] = _digests(wanted)
        wanted["plurals.yaml"] = _plurals_file(plurals)
        for name in sorted(_differing(table.parent, wanted)):
            differing += 1
            sys.stdout.write(f"{table.parent.name}/{name}\n")
        if not check:
            _write(table.parent, wanted)
    return int(check and differing > 0)


def derive(release: Path) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return the schemas and the plurals of a release folder.

    The schemas are file contents by path below ``schemas/``; the plurals are by kind and group,
    e.g. ``Topology.kueue.x-k8s.io``.

    Raises:
        ToolError: ``go`` is missing, a checksum doesn't match, or a source isn't what
            ``kinds.toml`` says.
    """
    table = tomllib.loads((release / "kinds.toml").read_text(encoding="utf-8"))
    unpacked = modules(release)
    core = table["core"]
    schemas, plurals = _core(unpacked[core["module"]] / core["file"], core["definitions"])
    for module, file, version in table["crds"]:
        name, schema, kind, plural = _custom(unpacked[module] / file, version)
        schemas[name], plurals[kind] = schema, plural
    for path in sorted((release / "handwritten").rglob("*.json")):
        name = path.relative_to(release / "handwritten").as_posix()
        schemas[name] = json.loads(path.read_text(encoding="utf-8"))
    plurals |= table.get("handwritten", {})
    return {name: _encode(schema) for name, schema in sorted(schemas.items())}, plurals


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
    tool = shutil.which("go")
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


def _core(
    specification: Path, definitions: Sequence[str]
) -> tuple[dict[str, Schema], dict[str, str]]:
    """Return the schemas and plurals of kinds of Kubernetes itself."""
    openapi = json.loads(specification.read_text(encoding="utf-8"))
    paths = _created_at(openapi["paths"])
    schemas, plurals = {}, {}
    for definition in definitions:
        body = openapi["definitions"][definition]
        (gvk,) = body["x-kubernetes-group-version-kind"]
        path = paths[gvk["group"], gvk["version"], gvk["kind"]]
        namespaced = "/namespaces/{namespace}/" in path
        name, schema = _named(gvk, body, openapi["definitions"], namespaced=namespaced)
        schemas[name], plurals[_key(gvk)] = schema, path.rpartition("/")[2]
    return schemas, plurals


def _created_at(paths: Mapping[str, Any]) -> dict[tuple[str, str, str], str]:
    """Return the path that objects are created at, by group, version and kind.

    No definition holds its scope or its plural; the path ends with the plural.
    """
    created = {}
    for path, operations in paths.items():
        gvk = operations.get("post", {}).get("x-kubernetes-group-version-kind")
        if gvk and not path.endswith("}") and "{name}" not in path:
            created[gvk["group"], gvk["version"], gvk["kind"]] = path
    return created


def _custom(crd: Path, version: str) -> tuple[str, Schema, str, str]:
    """Return name, schema, kind and plural that a CRD defines, in one served version."""
    documents = yaml.load_all(crd.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    (spec,) = (document["spec"] for document in documents if document)
    names, namespaced = spec["names"], spec["scope"] == "Namespaced"
    for each in spec["versions"]:
        if each["name"] == version and each["served"]:
            gvk = {"group": spec["group"], "version": version, "kind": names["kind"]}
            schema = each["schema"]["openAPIV3Schema"]
            return *_named(gvk, schema, {}, namespaced=namespaced), _key(gvk), names["plural"]
    raise ToolError(f"{crd.name} doesn't serve {version}")


def _key(gvk: Mapping[str, str]) -> str:
    return f"{gvk['kind']}.{gvk['group']}".rstrip(".")


def _named(
    gvk: Mapping[str, str], openapi: Schema, definitions: Mapping[str, Schema], *, namespaced: bool
) -> tuple[str, Schema]:
    """Return a kind's path below ``schemas/`` and its strict schema."""
    group, version, kind = gvk["group"], gvk["version"], gvk["kind"]
    api_version = f"{group}/{version}" if group else version
    name = f"{group or version}/{kind.lower()}_{version}.json"
    return name, manifest_schema(api_version, kind, openapi, definitions, namespaced=namespaced)


def _plurals_file(plurals: Mapping[str, str]) -> bytes:
    lines = (f"{kind}: {plural}\n" for kind, plural in sorted(plurals.items()))
    return "".join(
        ["# Written by `python -m tools.derive`: the plural of each kind that is served.\n", *lines]
    ).encode()


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
    files = [*release.glob("shipped.sha256"), *release.glob("plurals.yaml")]
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
