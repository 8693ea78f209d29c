"""The files of CI systems: what is written where, and what is left alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard.cli.main import run
from trainyard.diagnostics import TreeError
from trainyard.scaffold.ci import SYSTEMS, ci_files, missing, tops, write_ci
from trainyard.workflows.begin import plan_ci

ORIGINS = {
    "github": f"my-org/trainyard@{'a' * 40}",
    "gitlab": f"registry.example.com:5000/ml/trainyard@sha256:{'b' * 64}",
    "tekton": f"trainyard@sha256:{'c' * 64}",
}
NAMES = sorted(SYSTEMS)


@pytest.mark.parametrize("name", NAMES)
def test_files_are_written_once(tmp_path: Path, name: str) -> None:
    """A second run changes nothing."""
    root, new = plan_ci(name, tmp_path)
    assert new.keys() == SYSTEMS[name].files.keys()
    write_ci(root, new)
    assert {path: (tmp_path / path).read_bytes() for path in new} == new
    assert plan_ci(name, tmp_path) == (root, {})
    write_ci(root, {})


@pytest.mark.parametrize("name", NAMES)
def test_every_mark_is_filled(name: str) -> None:
    """With a pin no placeholder is left; without one each is marked."""
    pinned = ci_files(SYSTEMS[name], "platform/gpu", "release/live", ORIGINS[name])
    plain = ci_files(SYSTEMS[name], ".", "main")
    for files in (pinned, plain):
        text = b"".join(files.values()).decode()
        assert not re.search(r"@[A-Z]+@", text)
    joined = b"".join(pinned.values()).decode()
    assert ORIGINS[name] in joined
    assert "platform/gpu" in joined
    assert "release/live" in joined
    assert "placeholder" not in joined
    assert "# placeholder: " in b"".join(plain.values()).decode()


@given(st.sampled_from(NAMES), st.text(max_size=80))
def test_no_value_means_something_else_in_a_template(name: str, text: str) -> None:
    """Only a pinned origin, a plain path and a plain branch are taken."""
    system = SYSTEMS[name]
    for folder, branch, origin in ((text, "main", ""), (".", text, ""), (".", "main", text)):
        try:
            files = ci_files(system, folder, branch, origin)
        except ValueError:
            continue
        assert re.fullmatch(r"[\w./-]+", folder, re.ASCII)
        assert re.fullmatch(r"[\w./-]+", branch, re.ASCII)
        assert not origin or "@" in origin
        assert len(files) == len(system.files)


@pytest.mark.parametrize(
    "origin",
    [
        "my-org/trainyard@v1",
        "my-org/trainyard@main",
        "trainyard:latest",
        f"my-org/trainyard@{'a' * 40}\n",
        f"a b/c@{'a' * 40}",
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_origin_that_is_not_pinned_is_refused(name: str, origin: str) -> None:
    with pytest.raises(ValueError, match=f"is not {SYSTEMS[name].form}$"):
        ci_files(SYSTEMS[name], ".", "main", origin)


def test_folder_with_other_characters_is_refused() -> None:
    """The message names the folder alone, since nothing is wrong with the origin."""
    with pytest.raises(ValueError, match=r"^the folder `a b` has other characters"):
        ci_files(SYSTEMS["github"], "a b", "main", ORIGINS["github"])


@pytest.mark.parametrize("name", NAMES)
def test_branch_is_the_one_that_argo_cd_syncs(tmp_path: Path, name: str) -> None:
    """Whatever the host calls its default; `init` writes the schema's."""
    assert run(["init", str(tmp_path)]) == 0
    settings = tmp_path / "profiles" / "trainyard.yaml"
    _, new = plan_ci(name, tmp_path)
    assert new == ci_files(SYSTEMS[name], ".", "main")

    text = settings.read_text("utf-8")
    settings.write_text(text.replace("branch: main", "branch: release/live"), encoding="utf-8")
    assert plan_ci(name, tmp_path)[1] == ci_files(SYSTEMS[name], ".", "release/live")
    settings.write_text(text.replace("branch: main\n", ""), encoding="utf-8")
    assert plan_ci(name, tmp_path)[1] == new


def test_branch_with_other_characters_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And nothing is written."""
    assert run(["init", str(tmp_path)]) == 0
    settings = tmp_path / "profiles" / "trainyard.yaml"
    text = settings.read_text("utf-8").replace("branch: main", 'branch: "ma*n"')
    settings.write_text(text, encoding="utf-8")

    assert run(["ci", "github", str(tmp_path)]) == 2
    assert "the branch `ma*n` has other characters than" in capsys.readouterr().err
    assert not (tmp_path / ".github").exists()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["other", "link", "folder"])
def test_file_of_a_person_is_never_overwritten(tmp_path: Path, name: str, kind: str) -> None:
    """And nothing else is written."""
    system = SYSTEMS[name]
    path = next(path for path in system.files if path not in system.beside)
    place = tmp_path / path
    place.parent.mkdir(parents=True)
    if kind == "other":
        place.write_text("mine")
    elif kind == "link":
        place.symlink_to("nowhere")
    else:
        place.mkdir()

    with pytest.raises(TreeError, match="is there already, and differs"):
        plan_ci(name, tmp_path)


def test_own_gitlab_file_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is left to do is printed."""
    (tmp_path / ".gitlab-ci.yml").write_text("stages: [mine]\n")
    assert run(["ci", "gitlab", str(tmp_path), "--from", ORIGINS["gitlab"]]) == 0
    printed = capsys.readouterr()

    assert (tmp_path / ".gitlab-ci.yml").read_text() == "stages: [mine]\n"
    assert printed.out.splitlines()[-1].endswith(".gitlab-ci.yml is there already")
    assert printed.err == "Add to .gitlab-ci.yml: include: [{local: .gitlab/trainyard.yml}]\n"


def test_platform_in_a_subfolder_is_checked_there(tmp_path: Path) -> None:
    """The host reads the files at the root of the repository only, whatever else is beside."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "platform" / "gpu").mkdir(parents=True)
    (tmp_path / "platform" / "gpu" / "x").symlink_to("/proc")
    root, new = plan_ci("github", tmp_path / "platform" / "gpu")

    assert root.resolve() == tmp_path.resolve()
    assert b"working-directory: platform/gpu\n" in new[".github/workflows/trainyard.yaml"]


def test_init_writes_them_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the profiles, or nothing at all when a file of a person is in the way."""
    assert run(["init", str(tmp_path / "new"), "--ci", "github"]) == 0
    printed = capsys.readouterr()
    assert "trainyard.yaml:" in printed.err
    assert (tmp_path / "new/.github/workflows/trainyard-comment.yaml").is_file()

    (tmp_path / "old/.tekton").mkdir(parents=True)
    (tmp_path / "old/.tekton/trainyard.yaml").write_text("mine")
    assert run(["init", str(tmp_path / "old"), "--ci", "tekton"]) == 5
    assert [path.name for path in (tmp_path / "old").iterdir()] == [".tekton"]


def test_parts_that_are_new_are_the_outermost(tmp_path: Path) -> None:
    """A folder that is there is entered, and one that is not is moved as a whole."""
    (tmp_path / "a").mkdir()

    assert tops(tmp_path, ["a/b/c", "a/b/d", "x/y/z", "e"]) == ("a/b", "x", "e")
    assert missing(tmp_path, {}, ()) == {}
