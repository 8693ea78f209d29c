"""The story: profiles in, a validated tree out. Pure up to the bytes; what is done with them is the command's choice.

    read -> check shape -> resolve -> check meaning -> render -> check against the release's schemas
    -> emit

A profile with an error of reading or shape is left out, and the others are checked all the same:
what reading, shape, names and meaning find is reported together. Nothing is rendered while there is
an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from trainyard import __version__
from trainyard.diagnostics import Diagnostic, Rule, Severity, Step, has_errors
from trainyard.model.holding import Given, remembered
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Platform, Site
from trainyard.output.lockfile import LOCKFILE, lock_bytes, make_lock, read_lock
from trainyard.profiles.discover import FOLDERS
from trainyard.profiles.read import load
from trainyard.references.graph import check_references
from trainyard.render.site import render_site
from trainyard.render.unit import evidence_page, health_checks, kustomizations, node_limits, readme
from trainyard.resolve.platform import resolve
from trainyard.rules.check import check_meaning
from trainyard.rules.waivers import apply_waivers
from trainyard.schema.check import check_profiles
from trainyard.schema.manifests import check_manifest
from trainyard.yaml_io.emitter import emit
from trainyard.yaml_io.source import Profiles

INVALID_MANIFEST = Rule(
    id="release/invalid-manifest",
    severity=Severity.ERROR,
    summary="""
        Every object fits the strict schema of its kind in the release, hand-written components
        included.
    """,
    why="""
        The API server refuses the object, e.g. `.spec.runtimePatches: field not declared in schema`
        (seen with Trainer 2.1.0), and Argo CD's sync of the whole unit fails. Where nobody asks it
        to check, it drops the field in silence.
    """,
    fix="""
        Correct the object if it is in a component. Trainyard makes every other object: report the
        message, the release and the profile as a fault of Trainyard.
    """,
)
_BY_HAND = "Correct the field in this file of the component."
_OURS = (
    "Trainyard makes this object, so this is a fault of Trainyard and not of the profile: report "
    "the message, the release and the profile. Until it is corrected, undo the last change of the "
    "profile."
)
RULES = (INVALID_MANIFEST,)

_FOLDERS = frozenset(f"profiles/{kind}" for kind in FOLDERS)
"""When one of these can't be listed, every name of its kind would seem to lead nowhere."""


@dataclass(frozen=True, slots=True)
class Checked:
    """Profiles that were read and checked.

    Args:
        platform: None when it would lack something, since a profile can't be used or a name leads
            nowhere.
    """

    profiles: Profiles
    platform: Platform | None
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Generation:
    """A generated tree, in memory.

    Args:
        files: content by path below overlays/, the lockfiles included.
        manifests: objects and samples of each site, by cluster.
    """

    checked: Checked
    diagnostics: tuple[Diagnostic, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
    manifests: Mapping[str, tuple[Manifest, ...]] = field(default_factory=dict)


def check(root: Path, today: str = "") -> Checked:
    """Read the profiles below a folder and check all that can be told without rendering.

    Args:
        root: the profiles.
        today: ISO date that waivers and runtimes' ends are measured against; without one none has
            ended.

    Raises:
        TreeError: a file can't be read.
    """
    return check_loaded(*load(root), today)


def check_loaded(
    profiles: Profiles, diagnostics: tuple[Diagnostic, ...], today: str = ""
) -> Checked:
    """Check profiles that were read.

    Args:
        profiles: as `load` returns them, or as they would be after an edit.
        diagnostics: what reading them found.
        today: as `check` takes it.
    """
    diagnostics += tuple(check_profiles(profiles))
    broken = {each.at.file for each in diagnostics if has_errors([each])}
    if not broken.isdisjoint(_FOLDERS):
        return Checked(profiles, None, diagnostics)
    usable = profiles.without(broken)
    platform, unresolved = resolve(usable)
    diagnostics += unresolved
    complete = not has_errors(diagnostics)
    found = (*diagnostics, *check_meaning(platform, today))
    if usable.waivers.value is None:
        # Nobody knows which warnings are waived.
        found = tuple(each for each in found if has_errors([each]))
    told = tuple(apply_waivers(found, usable.waivers, today, complete=complete))
    return Checked(profiles, platform if complete else None, told)


def generate(
    root: Path,
    components_root: str,
    clusters: Iterable[str] = (),
    today: str = "",
    target: Path | None = None,
) -> Generation:
    """Return the tree of the profiles below a folder.

    Args:
        root: the profiles.
        components_root: path of the hand-written components relative to the tree, e.g.
            ``../profiles/components``.
        clusters: names of the only ones wanted; all when empty.
        today: as `check` takes it; no byte of the tree depends on it.
        target: the committed tree that this one replaces: its lockfiles remember the numbers ever
            given. None for a tree that replaces nothing.

    Raises:
        TreeError: a file can't be read.
        ToolError: a schema of the release is missing.
    """
    return render(check(root, today), components_root, clusters, target)


def render(
    checked: Checked, components_root: str, clusters: Iterable[str] = (), target: Path | None = None
) -> Generation:
    """Return the tree of checked profiles; an empty one when they have errors.

    Args:
        checked: the profiles.
        components_root: as `generate` takes it.
        clusters: as `generate` takes them.
        target: as `generate` takes it.

    Raises:
        TreeError: a lockfile can't be read.
        ToolError: a schema of the release is missing.
    """
    if checked.platform is None or has_errors(checked.diagnostics):
        return Generation(checked, checked.diagnostics)
    wanted = frozenset(clusters)
    sites = [site for site in checked.platform.sites if not wanted or site.name in wanted]
    manifests = {site.name: render_site(site, components_root) for site in sites}
    found = [each for site in sites for each in check_tree(site, manifests[site.name])]
    # An object of a component is the same on each cluster and for each team.
    diagnostics = (
        *checked.diagnostics,
        *dict.fromkeys((*found, *check_unlisted(checked.platform))),
    )
    files = {
        f"{site.name}/{path}": content
        for site in sites
        for path, content in emit_site(
            site, manifests[site.name], components_root, _given(checked.platform, site, target)
        ).items()
    }
    return Generation(checked, diagnostics, files, manifests)


def check_tree(site: Site, manifests: tuple[Manifest, ...]) -> Iterator[Diagnostic]:
    """Check every object of a site against the release's schemas, and every name in them against the rest."""
    everything = (*manifests, *component_manifests(site))
    for manifest in everything:
        yield from check_object(site, manifest)
    yield from check_references(site, everything)


def check_object(site: Site, manifest: Manifest) -> Iterator[Diagnostic]:
    """Check one object against the release's schema of its kind."""
    for path, message in check_manifest(site.cluster.release.name, manifest.body):
        yield invalid(manifest, path, message)


def invalid(manifest: Manifest, path: Iterable[Step], message: str) -> Diagnostic:
    """Return the finding that an object does not fit its schema at a path."""
    hint = _BY_HAND if manifest.by_hand else _OURS
    return INVALID_MANIFEST.at(manifest.place(path), f"{manifest.display}: {message}", hint=hint)


def check_unlisted(platform: Platform) -> Iterator[Diagnostic]:
    """Check the objects of components that no team lists: some release in use must take each of them.

    No profile says which cluster they are for. When no release takes an object, the first one's
    faults are reported.
    """
    listed = {name for team in platform.teams for name in team.components}
    releases = sorted({site.cluster.release.name for site in platform.sites})
    for component in platform.components:
        for at, file, body in component.each() if component.name not in listed else ():
            manifest = Manifest(
                f"{component.name}/{file}", body, (component.at.file,), at, by_hand=True
            )
            faults = [tuple(check_manifest(release, body)) for release in releases]
            if faults and all(faults):
                yield from (invalid(manifest, *fault) for fault in faults[0])


def component_manifests(site: Site) -> Iterator[Manifest]:
    """Yield the objects that hand-written components add to the teams' units."""
    for tenant in site.tenants:
        for component in tenant.components:
            for at, file, body in component.each():
                path = f"teams/{tenant.name}/{component.name}/{file}"
                yield Manifest(path, body, (component.at.file,), at, by_hand=True)


def _given(platform: Platform, site: Site, target: Path | None) -> Given:
    """Return numbers and user ids ever given on a cluster: what the tree remembers, and what the ledger says."""
    lock = read_lock(target / site.name) if target else None
    holdings = remembered(lock.holdings if lock else (), platform.holdings(site))
    return holdings, remembered(lock.ids if lock else (), platform.ids.get(site.name, ()))


def emit_site(
    site: Site,
    manifests: tuple[Manifest, ...],
    components_root: str,
    given: Given = ((), ()),
) -> dict[str, bytes]:
    """Return a site's files by path below its folder, the lockfile last; it remembers what was given."""
    bodies = {manifest.path: (manifest.body, manifest.files) for manifest in manifests}
    for folder, body in kustomizations(site, manifests, components_root).items():
        bodies[f"{folder}/kustomization.yaml"] = (body, _unit_files(site, folder))
    fragment, checks = health_checks(site)
    bodies[f"{fragment}.yaml"] = (checks, site.cluster.files)
    files = {path: emit(body, _header(origins)) for path, (body, origins) in bodies.items()}
    files["README.md"] = readme(site).encode()
    texts = {**node_limits(site), **evidence_page(site, manifests)}
    files |= {path: text.encode() for path, text in texts.items()}
    files[".gitattributes"] = (
        f"# {_origin(site.cluster.files)}\n* text eol=lf linguist-generated=true\n".encode()
    )
    origins = {path: bodies[path][1] if path in bodies else site.cluster.files for path in files}
    lock = make_lock(
        files, origins, tool=__version__, release=site.cluster.release.name, given=given
    )
    return {**files, LOCKFILE: lock_bytes(lock)}


def _unit_files(site: Site, folder: str) -> tuple[str, ...]:
    teams = {f"teams/{tenant.name}": tenant.files for tenant in site.tenants}
    return teams.get(folder, site.cluster.files)


def _header(files: tuple[str, ...]) -> str:
    return f"{_origin(files)}\nDo not edit: change the profiles and run `trainyard generate`."


def _origin(files: tuple[str, ...]) -> str:
    return f"Generated by Trainyard from {', '.join(files)}."
