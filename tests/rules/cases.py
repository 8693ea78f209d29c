"""Cases of the rules: small changes of the base platform, as a user could have made them.

``tests/rules/<family>/<rule>/bad.yaml`` and ``good.yaml`` map a profile to what changes in it:
mappings are merged, everything else is replaced, and null removes a key or a whole profile.
Cases of ``preflight/`` change a cluster that has all that the tree needs.
``also`` lists the rules that the same mistake must break too, and ``before`` the changes that the
committed tree was made from, for rules that compare with it. ``bad.expected`` has the
findings as text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from tests.rules.clusters import live_of
from trainyard import __version__
from trainyard.change.history.check import check_replacement
from trainyard.change.history.replacement import Replacement
from trainyard.change.objects import moved_namespaces
from trainyard.diagnostics import Diagnostic, Pointer, has_errors
from trainyard.model.identity import Identity, identity
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Platform, Site
from trainyard.model.renames import renamed_holdings, renamed_ids, renames, usual_namespaces
from trainyard.profiles.read import load
from trainyard.render.site import render_site
from trainyard.resolve.platform import resolve
from trainyard.rules.check import check_meaning
from trainyard.schema.check import check_profiles
from trainyard.schema.defaults import filled
from trainyard.workflows.preflight import compare
from trainyard.yaml_io.reader import read
from trainyard.yaml_io.source import Profiles, ReleaseFolder, Source

HERE = Path(__file__).parent
ALSO = "also"
BEFORE = "before"
CLUSTER, PHASE, UNREAD, READ_ON = "cluster", "phase", "unread", "readOn"
"""Of a case about a running cluster: what differs of its objects, by kind, namespace and name; the
phase; what can't be read; and the day on which it was read."""
TODAY = "2026-11-21"
"""That the cases' ends and waivers are compared with."""


def case_folders() -> list[Path]:
    """Return the folder of each rule that has cases."""
    return sorted({path.parent for path in HERE.glob("*/*/*.yaml") if path.parts[-3] != "base"})


def rule_of(folder: Path) -> str:
    """Return the rule that a folder's cases are about."""
    return f"{folder.parent.name}/{folder.name}"


def read_case(path: Path) -> tuple[dict[str, Any], frozenset[str]]:
    """Return the changes of a case and the rules that it breaks beside its own."""
    source, found = read(path.name, path.read_bytes())
    assert found == ()
    changes = dict(source.value)
    return changes, frozenset(changes.pop(ALSO, ()))


def replacements(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Replacement]:
    """Yield, for each cluster of the base after some changes, what its committed tree after others
    is replaced by."""
    yield from _replacements(platform_of(before), platform_of(after))


def _replacements(former: Platform, platform: Platform) -> Iterator[Replacement]:
    old = {site.name: site for site in former.sites}
    for site in platform.sites:
        was = old[site.name]
        held = tuple(former.holdings(was))
        present = {tenant.name for tenant in was.tenants} | {each.team for each in held}
        renamed = renames(platform.teams, present)
        before, after = _objects(was), _objects(site)
        new_names = {former: team.name for former, team in renamed.items()}
        moved = usual_namespaces(renamed) | moved_namespaces(before, after, new_names)
        yield Replacement(
            platform,
            site,
            __version__,
            before,
            after,
            renamed_holdings(held, platform.holdings(site), renamed),
            renamed_ids(former.ids.get(site.name, ()), platform.ids.get(site.name, ()), moved),
            renamed,
        )


def _objects(site: Site) -> dict[Identity, Manifest]:
    """Return what a site is rendered to."""
    return {identity(each): each for each in render_site(site) if "metadata" in each.body}


def platform_of(changes: Mapping[str, Any]) -> Platform:
    """Return the base platform after changes that are right in shape and in every name."""
    if not changes:
        return _base_platform()
    platform, unresolved = _resolved(changes)
    assert not has_errors(unresolved), unresolved
    return platform


def _resolved(changes: Mapping[str, Any]) -> tuple[Platform, Sequence[Diagnostic]]:
    return resolve(filled(shaped(changed(changes))))


def shaped(profiles: Profiles) -> Profiles:
    """Return profiles, all of which are right in shape."""
    shape = tuple(check_profiles(profiles, faultless()))
    assert not has_errors(shape), shape
    return profiles


@cache
def faultless() -> Mapping[str, Source]:
    """Return the base's files, which are right in shape."""
    assert not tuple(check_profiles(_base()))
    return _base().sources()


def changed(changes: Mapping[str, Any]) -> Profiles:
    """Return the base profiles after some changes."""
    own = {BEFORE, CLUSTER, PHASE, UNREAD, READ_ON}
    return _change(_base(), {name: each for name, each in changes.items() if name not in own})


def findings(changes: Mapping[str, Any]) -> list[Diagnostic]:
    """Return all findings about the base platform after changes that are right in shape."""
    before = changes.get(BEFORE)
    platform, unresolved = _resolved(changes)
    found = [*unresolved, *check_meaning(platform, TODAY)]
    if CLUSTER in changes and not has_errors(found):
        live = live_of(platform, changes[CLUSTER], changes.get(PHASE), changes.get(UNREAD, {}))
        found += compare(replace(live, read_on=changes.get(READ_ON, ""), today=TODAY))
    if before is not None and not has_errors(found):
        found += [
            each
            for replacement in _replacements(platform_of(before), platform)
            for each in check_replacement(replacement)
        ]
    return found


def merged(base: Any, change: Any) -> Any:
    """Return plain data after a change (RFC 7396)."""
    if not isinstance(change, dict):
        return change
    result = dict(base) if isinstance(base, dict) else {}
    for key, value in change.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def broken(changes: Mapping[str, Any]) -> set[str]:
    """Return the rules that the base platform breaks after some changes."""
    return {each.rule for each in check_meaning(platform_of(changes))}


def messages(rule: str, changes: Mapping[str, Any]) -> list[str]:
    """Return a rule's messages about the base platform after some changes."""
    return [each.message for each in check_meaning(platform_of(changes)) if each.rule == rule]


def as_text(diagnostics: list[Diagnostic]) -> str:
    """Return findings as text: severity, rule, place and message, then the notes of each."""
    lines = []
    for each in diagnostics:
        lines.append(f"{each.severity}[{each.rule}] {_place(each.at)}: {each.message}")
        lines += [
            f"  note: {f'{_place(note.at)}: ' if note.at else ''}{note.message}"
            for note in each.notes
        ]
    return "".join(f"{line}\n" for line in lines)


def _place(at: Pointer) -> str:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in at.path)
    return f"{at.file}{' ' if path else ''}{path.removeprefix('.')}{' (key)' if at.on_key else ''}"


@cache
def _base() -> Profiles:
    profiles, found = load(HERE / "base" / "profiles")
    assert found == ()
    return profiles


@cache
def _base_platform() -> Platform:
    platform, unresolved = resolve(filled(_base()))
    assert unresolved == ()
    return platform


def _change(profiles: Profiles, changes: Mapping[str, Any]) -> Profiles:
    for name, change in changes.items():
        folder, _, rest = name.partition("/")
        fields: dict[str, Any]
        if not rest:
            kind = folder.removesuffix(".yaml").replace("trainyard", "settings")
            fields = {kind: _source(getattr(profiles, kind), name, change)}
        elif folder == "components":
            fields = _component(profiles, rest, change)
        elif folder == "releases":
            fields = _release(profiles, rest.partition("/")[0], name, change)
        else:
            known = dict(getattr(profiles, folder))
            profile = rest.removesuffix(".yaml")
            known[profile] = _source(known.get(profile), name, change)
            fields = {
                folder: {each: source for each, source in known.items() if source.value is not None}
            }
        profiles = replace(profiles, **fields)
    return profiles


def _component(profiles: Profiles, path: str, change: Any) -> dict[str, Any]:
    """Return what a file of a hand-written component changes; its kustomization comes first."""
    component, _, file = path.partition("/")
    files = dict(profiles.component_files)
    if file == "kustomization.yaml":
        source = Source(f"profiles/components/{path}", b"changed", change)
        objects: dict[str, Any] = dict.fromkeys(change["resources"], ())
        components = {**profiles.components, component: source}
    else:
        objects = {**profiles.component_objects[component], file: (change,)}
        components = dict(profiles.components)
        source = Source(f"profiles/components/{path}", b"changed", [change])
        files[source.file] = source
    every = {**profiles.component_objects, component: objects}
    return {"components": components, "component_objects": every, "component_files": files}


def _release(profiles: Profiles, release: str, name: str, change: dict[str, Any]) -> dict[str, Any]:
    """Return what the file of a release changes; its folder has no other file, and any digest."""
    source = Source(f"profiles/{name}", b"changed", change)
    base = profiles.releases[change["extends"]].value
    whole = replace(source, value=merged(base, change))
    folder = ReleaseFolder(change["extends"], (), f"sha256:{'0' * 64}", {})
    return {
        "releases": {**profiles.releases, release: whole},
        "plurals": {**profiles.plurals, release: profiles.plurals[change["extends"]]},
        "own_releases": {**profiles.own_releases, release: source},
        "release_folders": {**profiles.release_folders, release: folder},
    }


def _source(known: Source | None, name: str, change: Any) -> Source:
    return Source(f"profiles/{name}", b"changed", merged(known.value if known else None, change))
