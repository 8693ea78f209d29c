"""Commands that packages beside the core add, each by an entry point."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points

from trainyard.diagnostics import ToolError

GROUP = "trainyard.commands"
"""Group of the entry points; each names an `Extension` of its package."""


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that Trainyard needs, and how it is."""

    name: str
    state: str
    works: bool = True


@dataclass(frozen=True, slots=True)
class Extension:
    """What a package adds to the command line; its import loads none of its commands.

    Args:
        title: of its commands in the help.
        commands: line in the help by name.
        modules: module of each command by name; its ``command`` is the click command.
        extra: libraries that the extra of the command's name installs, by command.
        needs: looks at what its commands need besides; ``doctor`` shows it.
    """

    title: str
    commands: Mapping[str, str]
    modules: Mapping[str, str]
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    needs: Callable[[], Iterable[Need]] = tuple


@cache
def extensions() -> tuple[Extension, ...]:
    """Return the extensions that are installed, by the name of their entry point.

    Raises:
        ToolError: the installation names one that it lacks.
    """
    found = sorted(entry_points(group=GROUP), key=lambda entry: entry.name)
    try:
        return tuple(entry.load() for entry in found)
    except ImportError as missing:
        raise ToolError(f"{missing.name} is not installed whole; reinstall Trainyard") from missing
