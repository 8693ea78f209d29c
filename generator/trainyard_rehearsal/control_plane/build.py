"""Build the programs of a release once, into a cache; later neither Go nor a network is needed."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from trainyard.diagnostics import ToolError
from trainyard.golang import compile_program, find_go, run_go, unpacked
from trainyard_rehearsal.control_plane.components import Components, Program
from trainyard_rehearsal.control_plane.own_modules import write_modules

COMMAND = "trainyard rehearse --build"


@dataclass(frozen=True, slots=True)
class Built:
    """A release's programs, and files of their modules.

    Args:
        programs: path by name.
        manifests: folder of manifests by program, for programs with manifests.
        crds: files with the CustomResourceDefinitions of the release's tree.
    """

    programs: dict[str, Path]
    manifests: dict[str, Path]
    crds: tuple[Path, ...]


def find(components: Components, cache: Path) -> Built:
    """Return the programs that are already built.

    Raises:
        ToolError: a file is missing.
    """
    for program in components.programs.values():
        if not program.folder.is_dir():
            raise ToolError(f"{program.module} is not built yet; run `{COMMAND}` once")
    built = _built(components, cache)
    for path in (*built.programs.values(), *built.manifests.values(), *built.crds):
        if not path.exists():
            raise ToolError(f"{path.name} is not built yet; run `{COMMAND}` once")
    return built


def build(components: Components, cache: Path, progress: Callable[[str], None]) -> Built:
    """Build the missing programs, one after the other, and return all.

    Raises:
        ToolError: there is no Go, a version is not served, a checksum does not match, or a program
            does not build.
    """
    go = find_go()
    write_modules(go, components.programs.values(), progress)
    built = _built(components, cache)
    for program in components.programs.values():
        if not built.programs[program.name].exists():
            progress(f"building {program.name} ({program.module})")
            target = built.programs[program.name]
            compile_program(go, program.folder, program.package, target, _link_flags(program))
        if program.manifests and not built.manifests[program.name].exists():
            found = run_go(go, program.folder, "list", "-f", "{{.Module.Dir}}", program.package)
            source = Path(found.strip()) / program.manifests
            _keep(source, built.manifests[program.name])
    if not all(path.exists() for path in built.crds):
        progress(f"reading the custom resources of {components.folder.name}")
        _keep_crds(go, components, built.crds)
    return built


def _built(components: Components, cache: Path) -> Built:
    programs, manifests = {}, {}
    for name, program in components.programs.items():
        folder = cache / "programs" / _key(program)
        programs[name] = folder / name
        if program.manifests:
            manifests[name] = folder / program.manifests
    folder = cache / "crds" / _digest(components.folder, "go.sum", "crds.json")
    files = (Path(file).name for _, file in _crds(components))
    crds = tuple(folder / f"{number:02}-{name}" for number, name in enumerate(files))
    return Built(programs, manifests, crds)


def _key(program: Program) -> str:
    return f"{program.module}-{_digest(program.folder, 'go.mod', 'go.sum')}"


def _digest(folder: Path, *names: str) -> str:
    return sha256(b"\0".join((folder / name).read_bytes() for name in names)).hexdigest()[:12]


def _crds(components: Components) -> Iterator[tuple[str, str]]:
    """Yield module and file of each kind of the release, except those of the controllers."""
    crds = json.loads((components.folder / "crds.json").read_text(encoding="utf-8"))
    own = tuple(program.package for program in components.programs.values() if program.manifests)
    for module, file in crds:
        if not any(f"{package}/".startswith(f"{module}/") for package in own):
            yield module, file


def _link_flags(program: Program) -> str:
    """Return linker flags with the version of Kubernetes' own programs; empty for others.

    Clients refuse their default version, ``v0.0.0-master``.
    """
    if not program.package.startswith("k8s.io/kubernetes/"):
        return ""
    major, minor, _ = program.version.split(".")
    values = {
        "k8s.io/component-base/version.gitMajor": major,
        "k8s.io/component-base/version.gitMinor": minor,
        "k8s.io/component-base/version.gitVersion": f"v{program.version}",
        "k8s.io/client-go/pkg/version.gitVersion": f"v{program.version}",
    }
    return " ".join(f"-X {name}={value}" for name, value in values.items())


def _keep_crds(go: Path, components: Components, targets: tuple[Path, ...]) -> None:
    folders = unpacked(go, components.folder)
    for (module, file), target in zip(_crds(components), targets, strict=True):
        _keep(folders[module] / file, target)


def _keep(source: Path, target: Path) -> None:
    """Copy a file or folder of the read-only module cache completely, or not."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        partial = Path(scratch) / target.name
        if source.is_dir():
            shutil.copytree(source, partial, copy_function=shutil.copyfile)
            for folder in (partial, *(path for path in partial.rglob("*") if path.is_dir())):
                folder.chmod(0o755)
        else:
            shutil.copyfile(source, partial)
        partial.replace(target)
