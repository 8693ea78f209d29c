"""A repository in a subfolder of a Git repository gives Argo CD the right path, and a wrong path is
found."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from tests.cli.calls import edit
from trainyard.cli.main import run
from trainyard.yaml_io.manifests import parse_manifests

Printed = Callable[[], tuple[str, str]]
WRONG = (
    "error[delivery/wrong-tree-path]: `path` is `overlays`, and the tree is in "
    "`platform/gpu/overlays`"
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The root of a Git repository; Git is not run."""
    (tmp_path / ".git").mkdir()
    return tmp_path


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Printed:
    """Return the output on stdout and stderr since the last call."""

    def read() -> tuple[str, str]:
        both = capsys.readouterr()
        return both.out, both.err

    return read


def _team(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a repository with one team into a folder, and go there."""
    assert run(["init", str(folder)]) == 0
    monkeypatch.chdir(folder)
    assert run(["add", "team", "nlp", "--nodes", "2"]) == 0


def _delivery(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the body of each Argo CD object of a cluster by file name."""
    return {
        path.stem: parse_manifests(path.read_text("utf-8"))[0]
        for path in folder.glob("argocd/*.yaml")
    }


def test_subfolder_is_what_argocd_is_given(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every folder that Argo CD is given for a repository in a subfolder exists in the Git
    repository."""
    _team(root / "platform" / "gpu", monkeypatch)
    assert run(["generate"]) == 0
    delivery = _delivery(Path("overlays/lab"))
    applications = sorted(
        body["spec"]["source"]["path"]
        for body in delivery.values()
        if body.get("kind") == "Application"
    )
    teams = delivery["applicationset-lab-teams"]["spec"]
    (glob,) = [each["path"] for each in teams["generators"][0]["git"]["directories"]]
    paths = teams["template"]["metadata"]["annotations"][
        "argocd.argoproj.io/manifest-generate-paths"
    ]

    assert applications == [
        f"platform/gpu/overlays/lab/{unit}" for unit in ("argocd", "nodes", "platform")
    ]
    assert all((root / path / "kustomization.yaml").is_file() for path in applications)
    assert fnmatchcase("platform/gpu/overlays/lab/teams/nlp", glob)
    assert paths == ".;/platform/gpu/profiles/components"
    assert root / paths.partition(";/")[2] == Path("profiles/components").resolve()


def test_root_of_a_git_repository_needs_no_path(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repository of its own is left with the default."""
    _team(root, monkeypatch)

    assert "path:" not in Path("profiles/trainyard.yaml").read_text("utf-8")
    assert run(["generate"]) == 0


@pytest.mark.parametrize("command", ["validate", "generate", "verify"])
def test_wrong_path_is_found_before_anything_is_written(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: Printed
) -> None:
    """A repository that was moved into a subfolder is refused with the line that puts it right."""
    _team(tmp_path / "platform" / "gpu", monkeypatch)
    assert run(["generate"]) == 0
    before = {path: path.read_bytes() for path in Path("overlays").rglob("*") if path.is_file()}
    (tmp_path / ".git").mkdir()
    printed()

    assert run([command]) == 1
    out, _ = printed()
    assert WRONG in out
    assert "profiles/trainyard.yaml" in out
    assert (
        "= help: Set `path: platform/gpu/overlays` in `profiles/trainyard.yaml`, then run "
        "`trainyard generate`." in out
    )
    assert {
        path: path.read_bytes() for path in Path("overlays").rglob("*") if path.is_file()
    } == before

    with Path("profiles/trainyard.yaml").open("a", encoding="utf-8") as settings:
        settings.write("path: platform/gpu/overlays\n")
    assert run(["generate"]) == 0
    assert run([command]) == 0


def test_copy_of_a_subfolder_is_found(
    root: Path, monkeypatch: pytest.MonkeyPatch, printed: Printed
) -> None:
    """A second platform with the path of the first would never be delivered."""
    _team(root / "platform" / "cpu", monkeypatch)
    edit(
        root / "platform" / "cpu" / "profiles" / "trainyard.yaml",
        "platform/cpu/overlays",
        "platform/gpu/overlays",
    )

    assert run(["validate"]) == 1
    assert (
        "`path` is `platform/gpu/overlays`, and the tree is in `platform/cpu/overlays`"
        in printed()[0]
    )


def test_without_git_any_path_is_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a work tree, the path of the tree in its repository is unknown."""
    _team(tmp_path / "platform" / "gpu", monkeypatch)

    assert run(["validate"]) == 0


def test_broken_profiles_are_reported_first(
    root: Path, monkeypatch: pytest.MonkeyPatch, printed: Printed
) -> None:
    """Without settings there is no path to compare."""
    _team(root / "gpu", monkeypatch)
    edit(root / "gpu" / "profiles" / "trainyard.yaml", "branch: main", "brunch: main")

    assert run(["validate"]) == 1
    assert "wrong-tree-path" not in printed()[0]


def test_tree_for_a_look_is_no_finding(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree that is written elsewhere on purpose has no finding."""
    _team(root / "gpu", monkeypatch)

    assert run(["generate", "--output", "../scratch"]) == 0


def test_tree_outside_the_repository_has_the_same_delivery(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Argo CD is given the same objects."""
    _team(root / "gpu", monkeypatch)
    (root.parent / "elsewhere" / "a" / "b").mkdir(parents=True)
    assert run(["generate"]) == 0
    assert run(["generate", "--output", "../../elsewhere/a/b/overlays"]) == 0

    assert _delivery(root.parent / "elsewhere" / "a" / "b" / "overlays" / "lab") == _delivery(
        Path("overlays/lab")
    )


def test_profiles_may_be_named_from_the_root(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tree's folder counts, not the current one."""
    _team(root / "gpu", monkeypatch)
    monkeypatch.chdir(root)

    assert run(["validate", "--profiles", "gpu/profiles"]) == 0
    assert run(["generate", "--profiles", "gpu/profiles", "--output", "gpu/overlays"]) == 0


def test_linked_work_tree_is_a_work_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: Printed
) -> None:
    """Its `.git` is a file."""
    _team(tmp_path / "platform" / "gpu", monkeypatch)
    (tmp_path / ".git").write_text("gitdir: /elsewhere\n", "utf-8")

    assert run(["validate"]) == 1
    assert WRONG in printed()[0]


@pytest.mark.parametrize(
    ("path", "code"), [("overlays", 0), ("platform/gpu/overlays", 0), ("gpu/overlays", 1)]
)
def test_submodule_is_synced_alone_or_with_its_repository(
    path: str, code: int, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Argo CD may clone either, so either path is right."""
    folder = root / "platform" / "gpu"
    folder.mkdir(parents=True)
    (folder / ".git").write_text("gitdir: ../../.git/modules/gpu\n", "utf-8")
    _team(folder, monkeypatch)
    with Path("profiles/trainyard.yaml").open("a", encoding="utf-8") as settings:
        settings.write(f"path: {path}\n")

    assert run(["validate"]) == code


def test_folder_that_argocd_can_not_be_given_is_refused(root: Path, printed: Printed) -> None:
    """`init` writes nothing where its own settings would be refused."""
    assert run(["init", str(root / "my platform")]) == 2
    assert printed()[1].startswith("error: `my platform/overlays` can't be Argo CD's path; ")
    assert not (root / "my platform").exists()
