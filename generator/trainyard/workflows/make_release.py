"""Make a release: its schemas from Go modules or the CRDs of a cluster, and what follows."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainyard.derivation.derive import encoded, handwritten, path_of, schema_of
from trainyard.derivation.dump import Dump
from trainyard.derivation.features import contradictions, derivable, follow, queue_limits
from trainyard.derivation.modules import Modules, go_mod
from trainyard.derivation.source import Gvk, Source, Sources, key
from trainyard.diagnostics import ToolError, TreeError
from trainyard.handed_in import listed, shown
from trainyard.model.release import Release
from trainyard.plainfile import read_regular
from trainyard.profiles.read import PACKAGE, behaviour
from trainyard.schema.manifests import effective
from trainyard.schema.releases import fault_of
from trainyard.shipped import shipped
from trainyard.workflows.kinds import needed_kinds
from trainyard.workflows.known_releases import release_of
from trainyard.workflows.release_files import Made, differing, other_files
from trainyard.yaml_io.source import Profiles

_PREFIX = "schemas/"
_KUSTOMIZE = "kustomize.config.k8s.io/"


@dataclass(frozen=True, slots=True)
class ReleaseRequest:
    """The release that is wanted.

    Args:
        base: name of the release that it extends.
        versions: component -> version, where it differs.
        facts: file with the CRDs of a cluster; None to take them from Go modules.
        today: ISO date.
    """

    name: str
    base: str
    versions: Mapping[str, str]
    facts: Path | None
    today: str


def make(profiles: Profiles, request: ReleaseRequest) -> Made:
    """Return the release that is wanted, not tried yet.

    Raises:
        TreeError: the facts are not CRDs, or contradict the versions.
        ToolError: ``go`` is missing, a module is not served, or its checksum doesn't match.
        ValueError: the release that is extended, or one of its components, does not exist.
    """
    base = release_of(profiles, request.base)
    fields = _with_versions(profiles, base, request)
    table = behaviour().value
    old = {path.removeprefix(_PREFIX): body for path, body in effective(base.schemas).items()}
    known = _known(fields, table, old, request)
    schemas = {**known.by_hand, **old, **known.derived}
    followed = follow(table, fields, schemas)
    limits = queue_limits(known.described)
    fields |= {**followed.fields, **({"queueLimits": limits} if limits else {})}
    inherited = sorted(map(key, _inherited(needed_kinds(fields), known, old)))
    changed = _changed(needed_kinds(fields), old, schemas)
    plurals = {name: each for name, each in known.plurals.items() if name not in base.plurals}
    record = {**known.record, "inherited": inherited}
    return Made(
        name=request.name,
        base=request.base,
        fields=fields,
        stated=differing(profiles.releases[request.base].value, fields),
        others=other_files(changed, plurals, record),
        changed=tuple(sorted(changed)),
        inherited=tuple(inherited),
        remarks=followed.remarks,
        date=request.today,
    )


def _inherited(needed: set[Gvk], known: _Known, old: Mapping[str, bytes]) -> set[Gvk]:
    """Return the kinds that no source describes, and the release that is extended has."""
    return {gvk for gvk in needed if gvk not in known.described and path_of(gvk) in old}


def _changed(
    needed: set[Gvk], old: Mapping[str, bytes], schemas: Mapping[str, bytes]
) -> dict[str, bytes]:
    """Return the schemas that differ from those of the release that is extended.

    Raises:
        ToolError: a kind has none.
    """
    paths = {path_of(gvk) for gvk in needed} | {path for path in old if path.startswith(_KUSTOMIZE)}
    if missing := sorted(paths - schemas.keys()):
        raise ToolError(f"no source and no release that is extended has {missing[0]}")
    return {path: schemas[path] for path in paths if old.get(path) != schemas[path]}


def _with_versions(profiles: Profiles, base: Release, request: ReleaseRequest) -> dict[str, Any]:
    """Return all fields of a release with the versions that are wanted.

    Raises:
        ValueError: it has no such component.
    """
    if unknown := sorted(request.versions.keys() - base.versions.keys()):
        named = ", ".join(sorted(base.versions))
        raise ValueError(f"release {base.name} has no component `{unknown[0]}`; it has: {named}")
    fields = dict(profiles.releases[request.base].value)
    return {**fields, "versions": {**fields["versions"], **request.versions}}


@dataclass(frozen=True, slots=True)
class _Known:
    """The kinds of a release, as far as they are known.

    Args:
        described: by the modules or the cluster.
        derived, by_hand: schemas by path below ``schemas/``.
        plurals: by kind and group.
        record: where the schemas come from.
    """

    described: Mapping[Gvk, Source]
    derived: Mapping[str, bytes]
    by_hand: Mapping[str, bytes]
    plurals: Mapping[str, str]
    record: Mapping[str, Any]


def _known(
    fields: Mapping[str, Any],
    table: Mapping[str, Any],
    old: Mapping[str, bytes],
    request: ReleaseRequest,
) -> _Known:
    """Return what is known of each kind that a release can have with any features."""
    kinds = needed_kinds({**fields, "features": {*fields["features"], *derivable(table)}})
    every = shipped(PACKAGE / "releases/handwritten", "**/*.json")
    by_hand, plurals = handwritten(every, {path_of(gvk) for gvk in kinds})
    with ExitStack() as opened:
        sources, record = _sources(request, table["modules"], opened)
        described = _find(sources, [gvk for gvk in sorted(kinds) if path_of(gvk) not in by_hand])
        derived = encoded({path_of(gvk): schema_of(gvk, each) for gvk, each in described.items()})
    if isinstance(sources, Dump):
        record["crds"] = {key(gvk): f"sha256:{sources.digest(gvk)}" for gvk in described}
    _need_closed(derived, old, request)
    _need_consistent(table, fields["versions"], derived, request)
    plurals |= {key(gvk): source.plural for gvk, source in described.items()}
    return _Known(described, derived, encoded(by_hand), plurals, record)


def _sources(
    request: ReleaseRequest, modules: Mapping[str, str], opened: ExitStack
) -> tuple[Sources | None, dict[str, Any]]:
    """Return where schemas come from, and the record of it; None where no version has a schema."""
    if request.facts is not None:
        bodies = [body for _, body in listed(request.facts)]
        dump = Dump(shown(request.facts), bodies)
        return dump, {}
    wanted = {
        modules[component]: f"v{version}"
        for component, version in request.versions.items()
        if component in modules
    }
    if not wanted:
        return None, {}
    folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="trainyard-")))
    (folder / "go.mod").write_text(go_mod(request.name, wanted), encoding="utf-8")
    try:
        found = Modules(folder, PACKAGE / "releases" / "crds.toml")
    except ToolError as error:
        raise ToolError(f"{error}; `--facts` takes the CRDs of a cluster instead") from error
    sums = read_regular(folder, "go.sum").decode()
    return found, {"modules": wanted, "go.mod": go_mod(request.name, wanted), "go.sum": sums}


def _find(sources: Sources | None, wanted: list[Gvk]) -> dict[Gvk, Source]:
    """Return those kinds that the sources describe.

    Raises:
        TreeError: they describe none.
    """
    if sources is None:
        return {}
    found = {gvk: source for gvk in wanted if (source := sources.find(gvk)) is not None}
    if not found:
        raise TreeError(f"{sources.name} has no kind that Trainyard writes")
    return found


def _need_closed(
    derived: Mapping[str, bytes], old: Mapping[str, bytes], request: ReleaseRequest
) -> None:
    """Refuse schemas that accept what no API server keeps.

    Raises:
        TreeError: there is one.
    """
    for path, body in derived.items():
        if fault := fault_of(f"{_PREFIX}{path}", body, old.get(path)):
            raise TreeError(f"{_origin(request)}: the schema of {path} {fault}")


def _origin(request: ReleaseRequest) -> str:
    return shown(request.facts) if request.facts else "a module"


def _need_consistent(
    table: Mapping[str, Any],
    versions: Mapping[str, str],
    derived: Mapping[str, bytes],
    request: ReleaseRequest,
) -> None:
    """Refuse versions that the schemas contradict.

    Raises:
        TreeError: there is one.
    """
    for contradiction in contradictions(table, versions, derived):
        raise TreeError(f"{_origin(request)}: {contradiction}; state the version with `--set`")
