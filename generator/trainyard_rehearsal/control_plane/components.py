"""What a release runs: programs, the modules that they are built from, and what its controllers bring."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

_RELEASES = Path(str(files("trainyard.releases")))
_MODULES = Path(__file__).parent / "modules"

PROCESSES, KIND = "processes", "kind"


@dataclass(frozen=True, slots=True)
class Program:
    """A program that is built from Go modules.

    Args:
        module: name and version; folder below ``modules/`` with its go.mod and go.sum.
        package: Go package of its main function.
        manifests: folder of the package's module that is kept beside the program; empty for none.
    """

    name: str
    module: str
    package: str
    manifests: str = ""

    @property
    def folder(self) -> Path:
        """Where its go.mod stands."""
        return _MODULES / self.module

    @property
    def version(self) -> str:
        """Version of the module, e.g. ``1.36.3``."""
        return self.module.rpartition("-")[2]


@dataclass(frozen=True, slots=True)
class Controller:
    """A controller with webhooks.

    Args:
        name: of its program.
        account: user that it is in production.
        crds, roles, webhooks: folders that kustomize builds, below the program's manifests.
        configuration: file of the cluster's tree that it reads; empty where its operator makes it.
        settings: its configuration where no file has it.
        webhook_namespaces: labels of the namespaces that its webhooks for jobs are called for;
            empty for all.
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
    """Everything that a rehearsal of a release runs.

    Args:
        folder: of the release.
        node_image: that kind makes the control plane of; empty where processes of ours are one.
    """

    folder: Path
    programs: Mapping[str, Program]
    controllers: Mapping[str, Controller]
    node_image: str


def read_components(release: str, on: str = PROCESSES) -> Components:
    """Return what a rehearsal of a release runs, as its ``components.toml`` says.

    Args:
        release: its name.
        on: what the control plane is: processes of ours, or ``kind``.
    """
    folder = _RELEASES / release
    table = tomllib.loads((folder / "components.toml").read_text(encoding="utf-8"))
    said = table["programs"] | table[on]["programs"]
    programs = {name: Program(name, *fields) for name, fields in sorted(said.items())}
    controllers = {name: _controller(name, fields) for name, fields in table["controllers"].items()}
    return Components(folder, programs, controllers, table[on].get("image", ""))


def _controller(name: str, fields: dict[str, Any]) -> Controller:
    said = {key: value for key, value in fields.items() if key != "webhookNamespaces"}
    return Controller(name, **said, webhook_namespaces=fields.get("webhookNamespaces", {}))
