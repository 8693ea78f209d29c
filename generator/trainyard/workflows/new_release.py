"""Write a release of a repository, tried on the clusters of the release that it extends."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trainyard.diagnostics import Diagnostic, Pointer, Severity, TreeError, has_errors
from trainyard.generation.generate import Target, check_loaded, check_objects
from trainyard.model.release import Release
from trainyard.plainfile import read_regular
from trainyard.profiles.discover import check_name
from trainyard.profiles.read import load
from trainyard.profiles.releases import digest_of
from trainyard.resolve.release import resolve_release
from trainyard.rules.names.profile_exists import RULE as PROFILE_EXISTS
from trainyard.rules.release.unusable_release import RULE as UNUSABLE_RELEASE
from trainyard.scaffold.install import put
from trainyard.scaffold.roundtrip import append
from trainyard.workflows.known_releases import release_of
from trainyard.workflows.make_release import ReleaseRequest, make
from trainyard.workflows.release_files import Made
from trainyard.yaml_io.bytescan import MAX_BYTES
from trainyard.yaml_io.source import Profiles

_SETTINGS = "trainyard.yaml"


@dataclass(frozen=True, slots=True)
class NewRelease:
    """A release that was made, or why none was.

    Args:
        profiles: those that the findings are about.
        diagnostics: the reasons why nothing was written; with `made`, the errors that a cluster of
            this repository would have.
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
        TreeError: the facts are not CRDs, contradict the versions, or a file can't be read or
            written; nothing is changed.
        ToolError: ``go`` is missing, a module is not served, or its checksum doesn't match.
        ValueError: the release that is extended, or one of its components, does not exist.
    """
    profiles, found = load(place.root)
    before = check_loaded(profiles, found, request.today)
    if before.platform is None:
        return NewRelease(profiles, before.diagnostics)
    made = _made(profiles, request)
    if not isinstance(made, Made):
        return NewRelease(profiles, made)
    tried, findings = _trial(place, made, request)
    if wrong := tuple(each for each in findings if each.at.file == _file(request.name)):
        return NewRelease(profiles, wrong)
    if tried and not has_errors(findings):
        made = replace(made, tested="schemas")
    _write(place.root, made)
    return NewRelease(profiles, findings, made, tried)


def _made(profiles: Profiles, request: ReleaseRequest) -> Made | tuple[Diagnostic, ...]:
    """Return the release that is wanted, or why there can't be one."""
    if problem := _taken(profiles, request):
        return (problem,)
    base = release_of(profiles, request.base)
    versions = {**base.versions, **request.versions}
    if problems := _known_bad(request, base, versions, by_features=False):
        return problems
    made = make(profiles, request)
    whole = replace(profiles.releases[request.base], value=made.fields)
    release = resolve_release(request.name, whole, profiles.plurals[request.base])
    return _known_bad(request, release, release.versions, by_features=True) or made


def _write(root: Path, made: Made) -> None:
    """Write the folder of a release, and its digest into the settings."""
    files = made.files()
    folder = f"releases/{made.name}"
    here = {f"{folder}/{path}": content for path, content in files.items()}
    put(root, {**here, _SETTINGS: _settings(root, made.name, files)}, [folder], _SETTINGS)


def _file(name: str) -> str:
    """Return the path of a release's file, as findings name it."""
    return f"profiles/releases/{name}/release.yaml"


def _taken(profiles: Profiles, request: ReleaseRequest) -> Diagnostic | None:
    """Return why a release can't have its name; None when it can."""
    file = _file(request.name)
    if problem := check_name(request.name, file, "releases"):
        return problem
    if request.name in profiles.own_releases:
        return PROFILE_EXISTS.at(Pointer(file), f"{file} is there already")
    if request.name in profiles.releases:
        message = f"release {request.name}: Trainyard has a release of this name"
        return UNUSABLE_RELEASE.at(Pointer(file), message, hint="Choose another name.")
    return None


def _known_bad(
    request: ReleaseRequest, release: Release, versions: Mapping[str, str], *, by_features: bool
) -> tuple[Diagnostic, ...]:
    """Return why no job would run on some versions.

    Args:
        request: what is wanted.
        release: that knows the pairs.
        versions: of the new release.
        by_features: whether the features of the release are those of the new one.
    """
    at = Pointer(_file(request.name))
    found = []
    for bad in release.known_bad:
        if bad.applies(versions) and (by_features or not (bad.needs or bad.lacks)):
            names = " with ".join(f"{name} {versions[name]}" for name in bad.components)
            message = f"release {request.name}: {names}: {bad.consequence}"
            hint = "State the versions that the cluster has with `--set`, or upgrade it first."
            found.append(UNUSABLE_RELEASE.at(at, message, hint=hint))
    return tuple(found)


def _trial(
    place: Target, made: Made, request: ReleaseRequest
) -> tuple[tuple[str, ...], tuple[Diagnostic, ...]]:
    """Return the clusters of the neighbour, and the errors that they would get with a release.

    It is read from a copy of the profiles, as it will be read from the repository.
    """
    with tempfile.TemporaryDirectory(prefix="trainyard-") as folder:
        root = Path(folder) / "profiles"
        shutil.copytree(place.root, root, symlinks=True, ignore=shutil.ignore_patterns(".*"))
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
