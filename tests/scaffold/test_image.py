"""The image for GitLab and Tekton: its instructions are done here, without a container."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.pages import done
from tests.scaffold.containerfile import Image
from tests.scaffold.pull_requests import Request, cloned, files, ran
from trainyard.scaffold.ci import SYSTEMS, ci_files

CONTAINERFILE = REPOSITORY / "Containerfile"
PAGE = REPOSITORY / "docs" / "how-to" / "check-pull-requests-automatically.md"


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """The image, of which `/opt` is a folder of this machine."""
    folder = tmp_path_factory.mktemp("image")
    made = Image(REPOSITORY, folder / "root", {})
    made.build(CONTAINERFILE.read_text("utf-8"))
    return made


@pytest.mark.thorough
def test_image_has_what_the_jobs_call_and_no_more(image: Image) -> None:
    """The compiler and the sources stay in the first stage; a Task may not run as root."""
    own = image.root / "opt" / "trainyard" / "bin"
    said = done(image.root, "trainyard", "doctor", PATH=str(own))

    assert re.search(r"^kustomize +v5.8.1$", said, re.MULTILINE)
    assert re.search(r"^kubeconform +v0.7.0$", said, re.MULTILINE)
    assert {"kubeconform", "kustomize", "trainyard"} <= {each.name for each in own.iterdir()}
    assert sorted(each.name for each in own.iterdir() if each.name.startswith((".", "go"))) == []
    assert not (own / "actionlint").exists()
    assert [each.name for each in (image.root / "opt").iterdir()] == ["trainyard"]
    assert int(image.user) > 0
    assert not {"PIP_INDEX_URL", "GOPROXY", "GOSUMDB"} & image.variables.keys()


@pytest.mark.thorough
def test_jobs_run_in_the_image(good: Request, image: Image, tmp_path: Path) -> None:
    """In a clone that belongs to somebody else, which Git itself would not read."""
    checkout = cloned(good.origin, good.head, tmp_path)
    done(tmp_path, "git", "clone", "--quiet", "--bare", str(good.origin), "project.git")
    variables = {
        **image.variables,
        "CI_JOB_TOKEN": "t0ken",
        "CI_MERGE_REQUEST_PROJECT_URL": (tmp_path / "project").as_uri(),
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
        "CI_PROJECT_DIR": str(checkout),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "0",
        "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1",
    }
    jobs = files("gitlab")[0]
    for job in ("trainyard:check", "trainyard:review"):
        script = "\n".join(jobs[job]["script"])
        system = {"GIT_CONFIG_SYSTEM": str(image.root / "gitconfig")}
        code, said = ran(checkout, script, "sh -e", **variables, **system)
        assert code == 0, said
        none = {"GIT_CONFIG_SYSTEM": os.devnull}
        if job == "trainyard:review":
            code, said = ran(checkout, script, "sh -e", **variables, **none)
            assert "dubious ownership" in said


def test_page_names_each_argument_and_each_action() -> None:
    """Whoever has no internet finds all that is fetched."""
    text, page = CONTAINERFILE.read_text("utf-8"), PAGE.read_text("utf-8")
    arguments = set(re.findall(r"^ARG (\w+)", text, re.MULTILINE))
    shipped = b"".join(ci_files(SYSTEMS["github"], ".", "main").values()).decode()
    shipped += (REPOSITORY / "action.yml").read_text("utf-8")
    actions = set(re.findall(r"uses: (actions/[a-z-]+)", shipped))

    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == arguments
    assert set(re.findall(r"`(actions/[a-z-]+)`", page)) == actions
    for version in re.findall(r'(?:python|go)-version: "([\d.]+)"', shipped):
        assert f" {version} " in page
