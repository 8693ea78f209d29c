"""The wheel by itself: templates, presets, schemas and scaffold travel as package data."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.releases.dumps import write_dump

pytestmark = pytest.mark.thorough

REPOSITORY = Path(__file__).resolve().parents[1]
RELEASE = REPOSITORY / ".github" / "workflows" / "release.yaml"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel as `make dist` does and unpack it as an installer would, away from here."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*build, str(REPOSITORY)], check=True, capture_output=True)
    (_,) = folder.glob("trainyard-*.tar.gz")
    (wheel,) = folder.glob("trainyard-*.whl")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*install, "--target", str(folder / "site"), str(wheel)], check=True)
    return folder / "site"


def test_installed_wheel_does_the_whole_job(installed: Path, tmp_path: Path) -> None:
    """In an empty folder: init, add team, generate, verify, with no file of the checkout in
    reach."""

    def trainyard(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "trainyard", *arguments],
            cwd=tmp_path,
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(installed),
                "TRAINYARD_KUSTOMIZE": str(REPOSITORY / ".tools" / "bin" / "kustomize"),
                "TRAINYARD_KUBECONFORM": str(REPOSITORY / ".tools" / "bin" / "kubeconform"),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    where = "import trainyard; print(trainyard.__file__)"
    environment = {"PYTHONPATH": str(installed)}
    used = subprocess.run(
        [sys.executable, "-c", where],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    trainyard("init")
    trainyard("add", "team", "robotics", "--nodes", "2")
    trainyard("generate")
    result = trainyard("verify")

    assert used.stdout.startswith(str(installed))
    assert "0 skipped" in result
    assert (tmp_path / "overlays").is_dir()


def test_installed_wheel_makes_a_release_without_go(installed: Path, tmp_path: Path) -> None:
    """From the CRDs of a cluster, and with no program in reach."""
    dump = write_dump(tmp_path / "crds.json", "kubernetes-1.34")
    versions = ("--set", "kueue=0.16.2", "--set", "trainer=2.1.0", "--set", "jobset=0.11.0")
    for arguments in (
        ("init", "--release", "kubernetes-1.36"),
        ("release", "new", "site", "--from", "kubernetes-1.36", "--facts", str(dump), *versions),
        ("release", "diff", "kubernetes-1.34", "site"),
        ("validate",),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "trainyard", *arguments],
            cwd=tmp_path,
            env={"PATH": os.devnull, "PYTHONPATH": str(installed), "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done
    assert (tmp_path / "profiles/releases/site/release.yaml").is_file()


def test_wheel_has_what_a_rehearsal_is_built_from(installed: Path) -> None:
    """Descriptions of components, and each module's go.mod and go.sum, travel too."""
    wanted = [
        *REPOSITORY.glob("generator/trainyard/releases/*/components.toml"),
        *REPOSITORY.glob("generator/**/go.*"),
    ]

    assert len(wanted) > 25
    assert [
        path
        for path in wanted
        if not (installed / path.relative_to(REPOSITORY / "generator")).is_file()
    ] == []


def test_wheel_has_the_credential_rules_with_their_licence(installed: Path) -> None:
    """gitleaks' rules may travel only with gitleaks' licence."""
    folder = installed / "trainyard" / "yaml_io" / "gitleaks"

    assert "Zachary Rice" in (folder / "LICENSE").read_text(encoding="utf-8")
    assert (folder / "rules.json").is_file()


def test_release_workflow_runs_targets_that_exist() -> None:
    """It tests, builds what this page installs, and publishes from another job."""
    jobs = yaml.safe_load(RELEASE.read_text(encoding="utf-8"))["jobs"]
    commands = [step["run"] for step in jobs["build"]["steps"] if "run" in step]
    targets = set(re.findall(r"^([a-z0-9]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))

    assert commands[:2] == ["make test", "make dist"]
    assert {"test", "dist"} <= targets
    assert "permissions" not in jobs["build"]
    assert jobs["publish"]["permissions"] == {"id-token": "write"}


def test_actions_of_the_release_are_pinned() -> None:
    """A tag or a branch can be moved to other code."""
    uses = re.findall(r"uses: (\S+)", RELEASE.read_text(encoding="utf-8"))

    assert len(uses) >= 4
    assert [action for action in uses if not re.search(r"@[0-9a-f]{40}$", action)] == []


def test_metadata_name_the_licence_of_each_part(installed: Path) -> None:
    """The rules of gitleaks travel under the licence of its authors."""
    (folder,) = installed.glob("trainyard-*.dist-info")
    metadata = (folder / "METADATA").read_text(encoding="utf-8")
    texts = {
        path.relative_to(folder / "licenses").as_posix(): path.read_bytes()
        for path in (folder / "licenses").rglob("LICENSE")
    }

    assert "\nLicense-Expression: Apache-2.0 AND MIT\n" in metadata
    shipped = {
        name: (REPOSITORY / name).read_bytes()
        for name in (path.relative_to(REPOSITORY).as_posix() for path in _licences())
    }
    assert texts == shipped
    assert set(re.findall(r"^License-File: (.+)$", metadata, re.MULTILINE)) == set(shipped)


def _licences() -> list[Path]:
    """Return the text of each licence in what the wheel ships."""
    below = [
        *(REPOSITORY / "generator").rglob("LICENSE*"),
        *(REPOSITORY / "templates").rglob("LICENSE*"),
    ]
    return [REPOSITORY / "LICENSE", *below]
