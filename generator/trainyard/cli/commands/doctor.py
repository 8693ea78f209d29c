"""``trainyard doctor``."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from trainyard import __version__
from trainyard.cli import document
from trainyard.cli.exits import Exit
from trainyard.cli.extension import Need, extensions
from trainyard.cli.findings import Findings, summary
from trainyard.cli.formats import Output, deliver
from trainyard.cli.options import format_option, places, profiles_option
from trainyard.diagnostics import ToolError
from trainyard.generation.generate import check
from trainyard.profiles.read import PACKAGE
from trainyard.schema.manifests import schema_folder
from trainyard.verify.tools import find_kubeconform, find_kustomize


@click.command("doctor")
@profiles_option
@format_option("json")
def command(profiles: Path, formats: tuple[Output, ...]) -> int:
    """Show the versions of Trainyard, its tools and releases, and the state of the profiles."""
    parts = [
        Need("trainyard", __version__),
        Need("python", platform.python_version()),
        _part("kustomize", lambda: find_kustomize().version),
        _part("kubeconform", lambda: find_kubeconform().version),
        *_of_extensions(),
        *_releases(),
        _part("profiles", lambda: _profiles(profiles)),
    ]
    width = max(len(part.name) for part in parts)
    deliver(
        formats,
        "never",
        lambda _: "\n".join(
            f"{part.name:<{width}}  {'' if part.works else 'error: '}{part.state}" for part in parts
        ),
        {"json": lambda: document.envelope("doctor", {"parts": parts})},
    )
    return Exit.FINE if all(part.works for part in parts) else Exit.TOOL


def _part(name: str, state: Callable[[], str]) -> Need:
    try:
        return Need(name, state())
    except ToolError as problem:
        return Need(name, str(problem), works=False)


def _of_extensions() -> Iterator[Need]:
    for extension in extensions():
        yield from extension.needs()


def _releases() -> Iterator[Need]:
    for folder in sorted(path.parent for path in PACKAGE.glob("releases/*/release.yaml")):
        try:
            count = sum(1 for _ in schema_folder(folder.name).glob("*/*.json"))
            yield Need(f"release {folder.name}", f"{count} schemas", works=count > 0)
        except ToolError as problem:
            yield Need(f"release {folder.name}", str(problem), works=False)


def _profiles(profiles: Path) -> str:
    if not profiles.is_dir():
        return f"there is no folder {profiles}; `trainyard init` makes one"
    checked = check(profiles)
    return summary(Findings(checked.diagnostics, places(checked.profiles, profiles)))
