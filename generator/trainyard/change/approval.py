"""Find who approves a change, by the owners that its base states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.change.review import differing
from trainyard.generation.generate import Checked, Generation
from trainyard.model.differences import Difference, differences
from trainyard.model.platform import Platform
from trainyard.tree.lockfile import LOCKFILE
from trainyard.tree.tree import Tree
from trainyard.yaml_io.source import Profiles, Source

_DECIDES = {"profiles/trainyard.yaml": ("owners", "review"), "profiles/waivers.yaml": ("waivers",)}
"""Keys that decide what a change needs, by file; ``owners`` of a team does, too."""
_TEAMS = "profiles/teams/"


@dataclass(frozen=True, slots=True)
class Approval:
    """A file that a change edits, and who approves that.

    Args:
        file: as findings name it; ``CODEOWNERS`` when the change states other owners.
        owners: in the base, of whom any one approves; empty when it states nobody.
        change: ``created``, ``changed`` or ``deleted``, of a profile; a renamed team's is changed.
        edits: what differs in a profile that is changed.
        decides: what differs in owners, limits and waivers.
    """

    file: str
    owners: tuple[str, ...]
    change: str = "changed"
    edits: tuple[Difference, ...] = ()
    decides: tuple[Difference, ...] = ()


def approvals(tree: Tree, base: Checked, generation: Generation) -> tuple[Approval, ...]:
    """Return the files that a change edits; comments and the order of keys of profiles don't count.

    Args:
        tree: the base's.
        base: what the change would replace; one that can't be resolved states no owners.
        generation: the head's; profiles with errors have no lockfile.
    """
    files = [*_lockfiles(tree, generation)]
    if _stated(base.profiles) != _stated(generation.checked.profiles):
        files.append("CODEOWNERS")
    platform = _platform(base.platform)
    return (*_edited(base, generation.checked), *(Approval(file, platform) for file in files))


def _lockfiles(tree: Tree, generation: Generation) -> Iterator[str]:
    """Yield the lockfiles that a change edits."""
    locks = (path for path in generation.files if path.endswith(f"/{LOCKFILE}"))
    new = {path: generation.files[path] for path in locks}
    for path in sorted(new.keys() - tree.holding(new)):
        yield f"overlays/{path}"


def _stated(profiles: Profiles) -> dict[str, Any]:
    """Return the owners that profiles state, by file."""
    owners = {}
    for source in (profiles.settings, *profiles.teams.values()):
        if own := _mapping(source).get("owners"):
            owners[source.file] = own
    return owners


def _edited(base: Checked, head: Checked) -> Iterator[Approval]:
    before, after = base.profiles.sources(), head.profiles.sources()
    for file in differing(base.profiles, head.profiles):
        new = _mapping(after.get(file))
        # A renamed team's profile had another name.
        former = before.get(f"{_TEAMS}{new.get('renamedFrom')}.yaml")
        old = _mapping(former) or _mapping(before.get(file))
        change = _change(bool(_mapping(former)) or file in before, file in after)
        edits = tuple(differences(old, new)) if change == "changed" else ()
        decides = tuple(_decides(file, old, new)) if new else ()
        yield Approval(file, _owners(base.platform, file), change, edits, decides)


def _change(was: bool, stays: bool) -> str:
    if not was:
        return "created"
    return "changed" if stays else "deleted"


def _mapping(source: Source | None) -> Mapping[str, Any]:
    """Return what a profile says; nothing when there is none, or it is not a mapping."""
    return source.value if source and isinstance(source.value, dict) else {}


def _decides(file: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Difference]:
    for key in ("owners",) if file.startswith(_TEAMS) else _DECIDES.get(file, ()):
        yield from differences(old.get(key), new.get(key), key)


def _owners(platform: Platform | None, file: str) -> tuple[str, ...]:
    """Return who approves changes of a profile; of a new team's, the owners of the platform."""
    if platform is None:
        return ()
    if not file.startswith(_TEAMS):
        return platform.settings.owners.of_profile(file)
    for team in platform.teams:
        if team.at.file == file and team.owners:
            return team.owners
    return _platform(platform)


def _platform(platform: Platform | None) -> tuple[str, ...]:
    return platform.settings.owners.platform if platform else ()
