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

import yaml

from trainyard.derivation.derive import (
    encoded,
    find_all,
    handwritten,
    path_of,
    plurals_text,
    schema_of,
)
from trainyard.derivation.modules import Modules
from trainyard.derivation.source import Gvk, key
from trainyard.profiles.inherited import whole
from trainyard.profiles.read import PACKAGE
from trainyard.shipped import write_lists
from trainyard.workflows.kinds import needed_kinds

_RELEASES = Path(__file__).parents[1] / "trainyard" / "releases"


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
    return needed_kinds(whole(release.name, stated))


def derive(release: Path, wanted: Collection[Gvk]) -> Derived:
    """Return what the sources of a release say of some kinds, and of Kustomize's own.

    A schema that is written by hand is the only source of its kind.

    Raises:
        ToolError: ``go`` is missing, a checksum doesn't match, or not exactly one source has a
            kind.
    """
    folder = release.parent / "handwritten"
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.json")
    }
    schemas, plurals = handwritten(files, set(map(path_of, wanted)))
    modules = Modules(release, release.parent / "crds.toml")
    sources = find_all(modules, [gvk for gvk in wanted if path_of(gvk) not in schemas])
    for gvk, source in sources.items():
        schemas[path_of(gvk)], plurals[key(gvk)] = schema_of(gvk, source), source.plural
    crds = sorted(source.crd for source in sources.values() if any(source.crd))
    return Derived(encoded(schemas), plurals, crds)


def _files(derived: Derived) -> dict[str, bytes]:
    """Return the derived files of a release by path."""
    files = {f"schemas/{name}": content for name, content in derived.schemas.items()}
    return {
        **files,
        "shipped.sha256": _digests(files),
        "plurals.yaml": plurals_text(derived.plurals),
        "crds.json": (json.dumps(derived.crds, indent=2) + "\n").encode(),
    }


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
