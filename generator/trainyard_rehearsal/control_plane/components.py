"""Components of a release: its programs, their Go modules, and its controllers."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from trainyard.diagnostics import ToolError
from trainyard.model.release import Release
from trainyard.model.version import numbers
from trainyard.profiles.inherited import whole
from trainyard.profiles.read import releases

_RELEASES = Path(str(files("trainyard.releases")))
_MODULES = Path(__file__).parent / "modules"

_REHEARSED = {
    "jobset": "jobset",
    "kubernetes": "kubectl",
    "kueue": "kueue",
    "trainer": "trainer",
}
"""Component of a release -> a program of its version."""

PROCESSES, KIND = "processes", "kind"


@dataclass(frozen=True, slots=True)
class Program:
    """A program that is built from Go modules.

    Args:
        module: name and version; folder below ``modules/`` with its go.mod and go.sum.
        package: Go package of its main function.
        manifests: folder of the package's module that is copied too; empty for none.
    """

    name: str
    module: str
    package: str
    manifests: str = ""

    @property
    def folder(self) -> Path:
        """Folder of its go.mod."""
        return _MODULES / self.module

    @property
    def version(self) -> str:
        """Version of the module, e.g. ``1.36.3``."""
        return self.module.rpartition("-")[2]


@dataclass(frozen=True, slots=True)
class Controller:
    """A controller with webhooks.

    Args:
        name: name of its program.
        account: its user in production.
        crds, roles, webhooks: folders that kustomize builds, below the program's manifests.
        configuration: file of the cluster's tree that it reads; empty if its operator writes it.
        settings: its configuration if there is no such file.
        webhook_namespaces: labels of the namespaces whose jobs its webhooks get; empty for all.
    """

    name: str
    account: str
    crds: str
    roles: str
    webhooks: str
    configuration: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    webhook_namespaces: Mapping[str, str] = field(default_factory=dict)

    @property
    def namespace(self) -> str:
        """Namespace of its account."""
        return self.account.split(":")[2]


@dataclass(frozen=True, slots=True)
class Components:
    """All that a rehearsal of a release runs.

    Args:
        folder: folder of the release.
        node_image: image of kind's control plane; empty for a control plane of processes.
    """

    folder: Path
    programs: Mapping[str, Program]
    controllers: Mapping[str, Controller]
    node_image: str


def queueing(components: Components, frameworks: Sequence[str]) -> Components:
    """Return components whose Kueue queues some job kinds, if its operator configures it.

    Args:
        components: those of a release.
        frameworks: the kinds, as Kueue's Configuration names them.
    """
    kueue = components.controllers["kueue"]
    if not kueue.settings:
        return components
    settings = {**kueue.settings, "integrations": {"frameworks": list(frameworks)}}
    controllers = {**components.controllers, "kueue": replace(kueue, settings=settings)}
    return replace(components, controllers=controllers)


def programs_of(release: Release, on: str = PROCESSES) -> str:
    """Return the shipped release whose programs a rehearsal of a release runs.

    Of a release of a repository, it is one with the same minor versions and controllers.

    Args:
        release: of a cluster.
        on: kind of control plane, as `read_components` takes it.

    Raises:
        ToolError: no programs of its versions are shipped.
    """
    if not release.digest:
        return release.name
    others = sorted(releases().keys() - {release.schemas.base})
    for name in (release.schemas.base, *others):
        same_accounts = tuple(releases()[name].value["controllers"]) == release.controllers
        if same_accounts and _has_versions(read_components(name, on), release.versions):
            return name
    stated = ", ".join(f"{name} {release.versions[name]}" for name in _REHEARSED)
    raise ToolError(
        f"release {release.name} can't be rehearsed: no programs of {stated} are shipped"
    )


def _has_versions(components: Components, versions: Mapping[str, str]) -> bool:
    return all(
        numbers(components.programs[program].version)[:2] == numbers(versions[name])[:2]
        for name, program in _REHEARSED.items()
    )


def read_components(release: str, on: str = PROCESSES) -> Components:
    """Return the components of a release from its ``components.toml``.

    Args:
        release: name of one that is shipped.
        on: kind of control plane: ``processes`` or ``kind``.
    """
    tables = {
        file.parent.name: tomllib.loads(file.read_text(encoding="utf-8"))
        for file in _RELEASES.glob("*/components.toml")
    }
    table = whole(release, tables)
    rows = table["programs"] | table[on]["programs"]
    programs = {name: Program(name, *fields) for name, fields in sorted(rows.items())}
    controllers = {name: _controller(name, fields) for name, fields in table["controllers"].items()}
    return Components(_RELEASES / release, programs, controllers, table[on].get("image", ""))


def _controller(name: str, fields: dict[str, Any]) -> Controller:
    arguments = dict(fields)
    namespaces = arguments.pop("webhookNamespaces", {})
    return Controller(name, **arguments, webhook_namespaces=namespaces)
