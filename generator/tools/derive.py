"""Derives the manifest schemas of every release from the sources that it pins: a developer's tool, not part of the CLI.

Run it after a change to a release's ``kinds.toml``, ``go.mod`` or ``handwritten/``::

    python -m tools.derive [--check]

It runs ``go mod download``, which verifies each module against the committed ``go.sum`` (and the
public checksum database), reads CRDs as they were published, and writes
``schemas/<group>/<kind>_<version>.json``; the core group stands under its version (``schemas/v1``),
which is how kubeconform names it. ``shipped.sha256`` lists their digests: Trainyard refuses a
schema that differs from it. ``--check`` writes nothing and fails when a committed schema differs.
The only module beside `trainyard.verify` that may start a process, and the only one beside
`trainyard.yaml_io` that may read YAML: CRDs are not profiles, the strict reader would refuse them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from tools.strict import Schema, manifest_schema
from trainyard.diagnostics import ToolError

_RELEASES = Path(__file__).parents[1] / "trainyard" / "releases"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the schemas of every release, or check them; return the exit code (1: something differs)."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.derive", description="derive manifest schemas"
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail when a committed schema differs"
    )
    check = parser.parse_args(arguments).check
    differing = 0
    for table in sorted(_RELEASES.glob("*/kinds.toml")):
        wanted = {f"schemas/{name}": content for name, content in derive(table.parent).items()}
        wanted["shipped.sha256"] = _digests(wanted)
        for name in sorted(_differing(table.parent, wanted)):
            differing += 1
            sys.stdout.write(f"{table.parent.name}/{name}\n")
        if not check:
            _write(table.parent, wanted)
    return int(check and differing > 0)


def derive(release: Path) -> dict[str, bytes]:
    """Return the schemas of a release folder: file content by path below ``schemas/``.

    Raises:
        ToolError: ``go`` is missing, a checksum doesn't match, or a source isn't what
            ``kinds.toml`` says.
    """
    table = tomllib.loads((release / "kinds.toml").read_text(encoding="utf-8"))
    unpacked = modules(release)
    schemas = dict(
        _core(
            unpacked[table["core"]["module"]] / table["core"]["file"], table["core"]["definitions"]
        )
    )
    for module, file, version in table["crds"]:
        schemas |= _custom(unpacked[module] / file, version)
    for path in sorted((release / "handwritten").rglob("*.json")):
        name = path.relative_to(release / "handwritten").as_posix()
        schemas[name] = json.loads(path.read_text(encoding="utf-8"))
    return {name: _encode(schema) for name, schema in sorted(schemas.items())}


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
    done = subprocess.run(  # noqa: S603  # every argument comes from files of this repository
        [tool, *arguments],
        cwd=release,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        raise ToolError(
            f"`go {' '.join(arguments[:2])}` failed: {done.stderr.strip() or done.stdout.strip()}"
        )
    return done.stdout


def _core(specification: Path, names: Sequence[str]) -> Iterator[tuple[str, Schema]]:
    """Yield the kinds of Kubernetes itself."""
    said = json.loads(specification.read_text(encoding="utf-8"))
    definitions, namespaced = said["definitions"], _namespaced(said["paths"])
    for name in names:
        openapi = definitions[name]
        (gvk,) = openapi["x-kubernetes-group-version-kind"]
        yield _named(gvk, openapi, definitions, namespaced=gvk in namespaced)


def _namespaced(paths: Mapping[str, Any]) -> list[Any]:
    """Return group, version and kind of all that the API serves below a namespace: no definition says it."""
    operations = (
        each
        for path, item in paths.items()
        if "/namespaces/{namespace}/" in path
        for each in item.values()
    )
    return [
        each["x-kubernetes-group-version-kind"]
        for each in operations
        if "x-kubernetes-group-version-kind" in each
    ]


def _custom(crd: Path, version: str) -> dict[str, Schema]:
    """Return the kind that a CRD defines, in one served version."""
    documents = yaml.load_all(crd.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    (spec,) = (document["spec"] for document in documents if document)
    for each in spec["versions"]:
        if each["name"] == version and each["served"]:
            gvk = {"group": spec["group"], "version": version, "kind": spec["names"]["kind"]}
            namespaced = spec["scope"] == "Namespaced"
            return dict([_named(gvk, each["schema"]["openAPIV3Schema"], {}, namespaced=namespaced)])
    raise ToolError(f"{crd.name} doesn't serve {version}")


def _named(
    gvk: Mapping[str, str], openapi: Schema, definitions: Mapping[str, Schema], *, namespaced: bool
) -> tuple[str, Schema]:
    """Return a kind's path below ``schemas/`` and its strict schema."""
    group, version, kind = gvk["group"], gvk["version"], gvk["kind"]
    api_version = f"{group}/{version}" if group else version
    name = f"{group or version}/{kind.lower()}_{version}.json"
    return name, manifest_schema(api_version, kind, openapi, definitions, namespaced=namespaced)


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
    """Return the derived files, by path below the release's folder, that are missing, different or extra."""
    files = [release / "shipped.sha256", *(release / "schemas").rglob("*")]
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
