"""Make a release of a repository: its schemas from Go modules or from the CRDs of a cluster."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trainyard.derivation.derive import encoded, handwritten, path_of, schema_of
from trainyard.derivation.dump import Dump
from trainyard.derivation.features import contradictions, derivable, follow, queue_limits
from trainyard.derivation.modules import Modules, go_mod
from trainyard.derivation.source import Gvk, Source, Sources, key
from trainyard.diagnostics import Diagnostic, Pointer, Severity, ToolError, TreeError, has_errors
from trainyard.generation.generate import Target, check_loaded, check_objects
from trainyard.handed_in import listed, shown
from trainyard.model.release import Release
from trainyard.plainfile import read_regular
from trainyard.profiles.discover import check_name
from trainyard.profiles.read import PACKAGE, behaviour, load
from trainyard.profiles.releases import digest_of
from trainyard.resolve.release import resolve_release
from trainyard.rules.names.profile_exists import RULE as PROFILE_EXISTS
from trainyard.rules.release.unusable_release import RULE as UNUSABLE_RELEASE
from trainyard.scaffold.install import put
from trainyard.scaffold.roundtrip import append
from trainyard.schema.manifests import effective
from trainyard.schema.releases import fault_of
from trainyard.shipped import shipped
from trainyard.workflows.kinds import kinds_of
from trainyard.workflows.known_releases import release_of
from trainyard.workflows.release_files import Made, differing, other_files
from trainyard.yaml_io.bytescan import MAX_BYTES
from trainyard.yaml_io.source import Profiles

_SETTINGS = "trainyard.yaml"
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


@dataclass(frozen=True, slots=True)
class NewRelease:
    """A release that was made, or why none was.

    Args:
        profiles: those that the findings are about.
        diagnostics: the reasons why nothing was written; or what a cluster of this repository would
            be told with the new release, when `made` is there.
        made: None when nothing was written.
        tried: names of the clusters that were tried with it.
    """

    profiles: Profiles
    diagnostics: tuple[Diagnostic, ...]
    made: Made | None = None
    tried: tuple[str, ...] = ()


def new_release(place: Target, request: ReleaseRequest) -> NewRelease:
    """Write the folder of a release and its digest, and try it on the clusters of its neighbour.

    Raises:
        TreeError: the facts are no CRDs, contradict the versions, or a file can't be read or
            written; nothing is changed.
        ToolError: ``go`` is missing, a module is not served, or its checksum doesn't match.
        ValueError: the release that is extended, or one of its components, does not exist.
    """
    profiles, found = load(place.root)
    before = check_loaded(profiles, found, request.today)
    if before.platform is None:
        return NewRelease(profiles, before.diagnostics)
    if problem := _taken(profiles, request):
        return NewRelease(profiles, (problem,))
    made = _made(profiles, request)
    if problems := tuple(_known_bad(profiles, request, made)):
        return NewRelease(profiles, problems)
    tried, findings = _trial(place, made, request)
    if tried and not has_errors(findings):
        made = replace(made, tested="schemas")
    files = made.files()
    settings = _settings(place.root, request.name, files)
    here = {f"releases/{request.name}/{path}": content for path, content in files.items()}
    put(place.root, {**here, _SETTINGS: settings}, [f"releases/{request.name}"], _SETTINGS)
    return NewRelease(profiles, findings, made, tried)


def _taken(profiles: Profiles, request: ReleaseRequest) -> Diagnostic | None:
    """Return why a release can't have its name; None when it can."""
    file = f"profiles/releases/{request.name}/release.yaml"
    if problem := check_name(request.name, file, "releases"):
        return problem
    if request.name in profiles.own_releases:
        return PROFILE_EXISTS.at(Pointer(file), f"{file} is there already")
    if request.name in profiles.releases:
        message = f"release {request.name}: Trainyard has a release of this name"
        return UNUSABLE_RELEASE.at(Pointer(file), message, hint="Choose another name.")
    return None


def _made(profiles: Profiles, request: ReleaseRequest) -> Made:
    """Return the release that is wanted, not tried yet."""
    base = release_of(profiles, request.base)
    fields = _with_versions(profiles, base, request)
    table = behaviour().value
    old = {path.removeprefix(_PREFIX): body for path, body in effective(base.schemas).items()}
    known = _known(fields, table, old, request)
    schemas = {**known.by_hand, **old, **known.derived}
    followed = follow(table, fields, schemas)
    limits = queue_limits(known.said)
    fields |= {**followed.fields, **({"queueLimits": limits} if limits else {})}
    needed = kinds_of(fields)
    paths = {path_of(gvk) for gvk in needed} | {path for path in old if path.startswith(_KUSTOMIZE)}
    if missing := sorted(paths - schemas.keys()):
        raise ToolError(f"no source and no release that is extended has {missing[0]}")
    inherited = {gvk for gvk in needed if gvk not in known.said and path_of(gvk) in old}
    changed = {path: schemas[path] for path in paths if old.get(path) != schemas[path]}
    return Made(
        name=request.name,
        base=request.base,
        fields=fields,
        stated=differing(profiles.releases[request.base].value, fields),
        others=other_files(
            changed,
            {name: each for name, each in known.plurals.items() if name not in base.plurals},
            {**known.record, "inherited": sorted(map(key, inherited))},
        ),
        changed=tuple(sorted(changed)),
        inherited=tuple(sorted(map(key, inherited))),
        remarks=followed.remarks,
        date=request.today,
    )


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
    """What is known of the kinds of a release.

    Args:
        said: by the modules or the cluster.
        derived, by_hand: schemas by path below ``schemas/``.
        plurals: by kind and group.
        record: where the schemas come from.
    """

    said: Mapping[Gvk, Source]
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
    kinds = kinds_of({**fields, "features": {*fields["features"], *derivable(table)}})
    every = shipped(PACKAGE / "releases/handwritten", "**/*.json")
    by_hand, plurals = handwritten(every, {path_of(gvk) for gvk in kinds})
    with ExitStack() as opened:
        sources, record = _sources(request, table["modules"], opened)
        wanted = sorted(gvk for gvk in kinds if path_of(gvk) not in by_hand)
        said = _find(sources, wanted)
        derived = encoded({path_of(gvk): schema_of(gvk, each) for gvk, each in said.items()})
    if isinstance(sources, Dump):
        record["crds"] = {key(gvk): f"sha256:{sources.digest(gvk)}" for gvk in said}
    if sources is not None and not said:
        raise TreeError(f"{sources.name} has no kind that Trainyard writes")
    _need_closed(derived, old, request)
    _need_consistent(table, fields["versions"], derived, request)
    plurals |= {key(gvk): source.plural for gvk, source in said.items()}
    return _Known(said, derived, encoded(by_hand), plurals, record)


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
    found = Modules(folder, PACKAGE / "releases" / "crds.toml")
    sums = (folder / "go.sum").read_text(encoding="utf-8")
    return found, {"modules": wanted, "go.mod": go_mod(request.name, wanted), "go.sum": sums}


def _find(sources: Sources | None, wanted: list[Gvk]) -> dict[Gvk, Source]:
    """Return what the sources say of those kinds that they know."""
    if sources is None:
        return {}
    found = ((gvk, sources.find(gvk)) for gvk in wanted)
    return {gvk: source for gvk, source in found if source is not None}


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


def _known_bad(profiles: Profiles, request: ReleaseRequest, made: Made) -> list[Diagnostic]:
    """Return why no job would run on the versions of a release."""
    whole = replace(profiles.releases[request.base], value=made.fields)
    release = resolve_release(request.name, whole, profiles.plurals[request.base])
    at = Pointer(f"profiles/releases/{request.name}/release.yaml")
    found = []
    for bad in release.known_bad:
        if bad.applies(release.versions):
            names = " with ".join(f"{name} {release.versions[name]}" for name in bad.components)
            message = f"release {request.name}: {names}: {bad.consequence}"
            hint = "State the versions that the cluster has with `--set`, or upgrade it first."
            found.append(UNUSABLE_RELEASE.at(at, message, hint=hint))
    return found


def _trial(
    place: Target, made: Made, request: ReleaseRequest
) -> tuple[tuple[str, ...], tuple[Diagnostic, ...]]:
    """Return the clusters of the neighbour, and the errors that they would get with a release.

    It is read from a copy of the profiles, as it will be read from the repository.
    """
    with tempfile.TemporaryDirectory(prefix="trainyard-") as folder:
        root = Path(folder) / "profiles"
        shutil.copytree(place.root, root, symlinks=True)
        files = made.files()
        for path, content in files.items():
            file = root / "releases" / request.name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        (root / _SETTINGS).write_bytes(_settings(place.root, request.name, files))
        profiles, found = load(root)
    tried = {
        name: replace(source, value=_on(source.value, request.name))
        for name, source in profiles.clusters.items()
        if source.value and source.value["release"] == request.base
    }
    edited = replace(profiles, clusters={**profiles.clusters, **tried})
    checked = check_loaded(edited, found, request.today)
    findings = check_objects(checked, place.components_root).diagnostics
    errors = tuple(each for each in findings if each.severity is Severity.ERROR)
    return tuple(sorted(tried)), errors


def _on(fields: Mapping[str, Any], release: str) -> dict[str, Any]:
    """Return the profile of a cluster on another release, with the versions of that."""
    return {key: value for key, value in fields.items() if key != "installed"} | {
        "release": release
    }


def _settings(root: Path, name: str, files: Mapping[str, bytes]) -> bytes:
    """Return the settings with the digest of a release."""
    try:
        content = read_regular(root, _SETTINGS, MAX_BYTES)
    except OSError as error:
        raise TreeError(f"{root / _SETTINGS} can't be read: {error.strerror}") from error
    return append(content, ("releases", name), digest_of(files))
