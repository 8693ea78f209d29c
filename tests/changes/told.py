"""What ``diff`` says of an edit of this repository's profiles, without Git."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from tests.conftest import REPOSITORY
from trainyard.change.clusters import by_hand, objects_of
from trainyard.change.impact.compare import compare
from trainyard.change.objects import FileChange, Sides
from trainyard.change.review import approvals
from trainyard.cli.impact.profiles import profiles as edited_profiles
from trainyard.cli.impact.sections import Section, sections
from trainyard.generation.generate import Checked, Generation, check_loaded, render
from trainyard.model.platform import Site
from trainyard.model.renames import renames
from trainyard.profiles.read import load
from trainyard.tree.disk import DiskTree
from trainyard.tree.tree import files_of
from trainyard.yaml_io.source import Plain, Profiles, Source

TODAY = "2026-11-21"
Patch = Mapping[str, Any]
"""What changes in profiles, by file: mappings are merged, as items of lists by their index, null
removes, everything else is replaced."""

_COMPONENTS = "../profiles/components"
_TREE = DiskTree(REPOSITORY / "overlays")


class Refused(AssertionError):  # noqa: N818 - it is the test's own failure
    """The profiles of a case have errors."""


@dataclass(frozen=True)
class State:
    """Profiles and the tree that they make, of all clusters."""

    checked: Checked
    generation: Generation

    def site(self, name: str) -> Site | None:
        """Return a cluster; None if there is none of that name."""
        platform = self.checked.platform
        assert platform is not None
        return next((site for site in platform.sites if site.name == name), None)


@cache
def committed() -> State:
    """Return this repository's profiles and tree."""
    profiles, found = load(REPOSITORY / "profiles")
    assert not found
    checked = check_loaded(profiles, (), TODAY)
    return State(checked, render(checked, _COMPONENTS, (), _TREE))


def edited(patch: Patch, base: State | None = None) -> State:
    """Return profiles after an edit, with their tree; clusters that stay are not rendered again.

    Raises:
        Refused: the edit has errors.
    """
    before = base or committed()
    known = before.checked.profiles.sources()
    profiles = _patched(before.checked.profiles, patch)
    checked = check_loaded(profiles, (), TODAY, known)
    if checked.platform is None:
        raise Refused(sorted({each.rule + ": " + each.message for each in checked.diagnostics}))
    sites = [site for site in checked.platform.sites if site != before.site(site.name)]
    names = tuple(site.name for site in sites)
    made = render(checked, _COMPONENTS, names, _TREE) if names else Generation(checked, ())
    files = {**before.generation.files, **made.files}
    retired = dict.fromkeys(checked.platform.retired, ())
    manifests = {**before.generation.manifests, **made.manifests, **retired}
    return State(checked, Generation(checked, made.diagnostics, files, manifests))


def _patched(profiles: Profiles, patch: Patch) -> Profiles:
    for file, change in patch.items():
        folder, _, name = file.removesuffix(".yaml").rpartition("/")
        if not folder:
            kind = name.replace("trainyard", "settings")
            fields: dict[str, Any] = {kind: _source(getattr(profiles, kind), file, change)}
        else:
            known = dict(getattr(profiles, folder))
            known[name] = _source(known.get(name), file, change)
            fields = {folder: {each: own for each, own in known.items() if own.value is not None}}
            if folder == "components":
                fields["component_objects"] = {**profiles.component_objects, name: {}}
        profiles = replace(profiles, **fields)
    return profiles


def _source(known: Source | None, file: str, change: Plain) -> Source:
    return Source(f"profiles/{file}", b"changed", merged(known.value if known else None, change))


def merged(base: Plain, change: Plain) -> Plain:
    """Return plain data after a change."""
    if not isinstance(change, dict):
        return change
    result = copy.copy(base) if isinstance(base, dict | list) else {}
    for step, value in sorted(change.items(), reverse=True):
        if value is None:
            del result[step]
        elif isinstance(result, list):
            result[step] = merged(result[step], value)
        else:
            result[step] = merged(result.get(step), value)
    return result


@dataclass(frozen=True)
class Told:
    """What is said of a change.

    Args:
        effects: lines about what follows, but for objects and the profiles' own values.
        edits: lines with the profiles' own values.
    """

    effects: tuple[str, ...]
    edits: tuple[str, ...]


def tell(before: State, after: State) -> Told:
    """Return what is said of the change from one state to another."""
    effects: list[str] = []
    for cluster in compare(_sides(before, after), None).clusters:
        for section in sections(cluster, fields=False):
            if section.title != "Objects":
                effects += _lines(section, f"{cluster.name} ")
    change = approvals(_TREE, before.checked, after.generation)
    effects += [
        f"Approval: ! {each.file} {field.path} {field.excerpt}"
        for each in change
        for field in each.decides
    ]
    effects += _findings(before, after)
    profiles = edited_profiles(change)
    return Told(tuple(effects), tuple(_lines(profiles, "")) if profiles else ())


def _sides(before: State, after: State) -> Iterator[Sides]:
    names = {*before.generation.manifests, *after.generation.manifests}
    for name in sorted(names):
        old, new = before.generation, after.generation
        if old.manifests.get(name) is new.manifests.get(name) and (
            before.site(name) == after.site(name)
        ):
            continue
        was, now = before.site(name), after.site(name)
        teams = after.checked.platform.teams if after.checked.platform else ()
        present = {tenant.name for tenant in was.tenants} if was else set()
        renamed = {former: team.name for former, team in renames(teams, present).items()}
        objects = [objects_of(name, each) for each in (old, new)]
        files = [dict(files_of(name, each.files)) for each in (old, new)]
        shared = {
            key: objects[0][key]
            if key in objects[0] and files[0].get(manifest.path) == files[1].get(manifest.path)
            else manifest
            for key, manifest in objects[1].items()
        }
        yield Sides(
            name,
            was,
            now,
            objects[0] | by_hand(was),
            shared | by_hand(now),
            renamed,
            dict(_file_changes(*files)),
        )


def _file_changes(
    before: Mapping[str, bytes], after: Mapping[str, bytes]
) -> Iterator[tuple[str, FileChange]]:
    """Yield what becomes of each file that differs."""
    for path in before.keys() | after.keys():
        if path not in before:
            yield path, "created"
        elif path not in after:
            yield path, "deleted"
        elif before[path] != after[path]:
            yield path, "changed"


def _findings(before: State, after: State) -> Iterator[str]:
    known = {each.fact for each in before.checked.diagnostics}
    for each in after.checked.diagnostics:
        if each.fact not in known:
            yield f"{each.severity}[{each.rule}] {each.message}"


def _lines(section: Section, cluster: str) -> list[str]:
    return [f"{cluster}{section.title}: {line}" for line in section.lines]
