"""Components of a release: its programs, their Go modules, and its controllers."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from trainyard.diagnostics import ToolError
from trainyard.golang import cache_folder
from trainyard.model.release import Release
from trainyard.model.version import numbers
from trainyard.profiles.inherited import whole
from trainyard.profiles.read import releases

_RELEASES = Path(str(files("trainyard.releases")))
_MODULES = Path(__file__).parent / "modules"

_EXACT = {
    "jobset": "sigs.k8s.io/jobset",
    "kubernetes": "k8s.io/kubernetes",
    "kueue": "sigs.k8s.io/kueue",
    "trainer": "github.com/kubeflow/trainer/v2",
}
"""Component of a release of a repository -> the module whose programs run in its own version."""

_PATCH = 3
"""Numbers of a version that names one module."""

PROCESSES, KIND = "processes", "kind"


@dataclass(frozen=True, slots=True)
class Program:
    """A program that is built from Go modules.

    Args:
        module: name and version of the folder with its go.mod and go.sum, e.g. ``kueue-0.19.2``.
        package: Go package of its main function.
        manifests: folder of the package's module that is copied too; empty for none.
    """

    name: str
    module: str
    package: str
    manifests: str = ""

    @property
    def folder(self) -> Path:
        """Folder of its go.mod: shipped, or in the cache, where ``--build`` writes it."""
        shipped = _MODULES / self.module
        return shipped if shipped.is_dir() else cache_folder() / "modules" / self.module

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


def components_of(release: Release, on: str = PROCESSES) -> Components:
    """Return what a rehearsal of a release runs.

    A release of a repository has the components of the shipped one that it extends, with programs
    of its own versions. Argo CD, etcd and kwok are those of the shipped one.

    Args:
        release: of a cluster.
        on: kind of control plane, as `read_components` takes it.

    Raises:
        ToolError: it states a minor version only, and no program or image of that is shipped.
    """
    base = read_components(release.schemas.base, on)
    if not release.digest:
        return base
    shipped = [base, *(read_components(name, on) for name in sorted(releases()))]
    programs = {
        name: _in_version(program, release, [each.programs[name] for each in shipped])
        for name, program in base.programs.items()
    }
    image = base.node_image and _image(release, shipped)
    return replace(base, programs=programs, node_image=image)


def exact(program: Program) -> str:
    """Return the component whose version a program has; empty for a stand-in of any version."""
    package = f"{program.package}/"
    return next((name for name, each in _EXACT.items() if package.startswith(f"{each}/")), "")


def upstream(program: Program) -> str:
    """Return the module that has the package of a program, with its version, as Go takes it."""
    return f"{_EXACT[exact(program)]}@v{program.version}"


def _in_version(program: Program, release: Release, shipped: Sequence[Program]) -> Program:
    """Return a program in the version of a release.

    Args:
        program: of the release that it extends.
        release: of the repository.
        shipped: the same program in each version that is shipped.

    Raises:
        ToolError: the release states a minor version only, and none of it is shipped.
    """
    component = exact(program)
    if not component:
        return program
    version = release.versions[component]
    for each in shipped:
        if _covers(version, each.version):
            return each
    if len(numbers(version)) < _PATCH:
        raise ToolError(
            f"release {release.name} can't be rehearsed: no program of {component} {version} is "
            "shipped; state its patch version in `versions`, so that it can be built"
        )
    return replace(program, module=f"{program.module.rpartition('-')[0]}-{version}")


def _image(release: Release, shipped: Sequence[Components]) -> str:
    """Return kind's image for the Kubernetes of a release: it has one for each minor version.

    Raises:
        ToolError: none is shipped.
    """
    version = ".".join(release.versions["kubernetes"].split(".")[:2])
    for each in shipped:
        if _covers(version, each.programs["kubectl"].version):
            return each.node_image
    raise ToolError(
        f"release {release.name} can't be rehearsed with kind: no image of Kubernetes {version} is "
        "pinned; leave out `--on`"
    )


def _covers(stated: str, version: str) -> bool:
    """Return whether a version is one that a release states: 1.36 is each of its patches."""
    wanted = numbers(stated)
    return numbers(version)[: len(wanted)] == wanted


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
