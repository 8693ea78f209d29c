"""Commits are read as they are, whatever the repository, the user or a commit configures."""

import os
import stat
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.verify.programs import program
from trainyard.diagnostics import ToolError, TreeError
from trainyard.git.objects import Commit, blob_id
from trainyard.git.repository import (
    Repository,
    find_commit,
    list_folder,
    merge_base,
    read_files,
    staged_submodules,
)


def git(folder: Path, *arguments: str, stdin: bytes | None = None) -> str:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
    done = subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments],
        input=stdin,
        capture_output=True,
        check=True,
    )
    return done.stdout.decode().strip()


def commit_all(folder: Path, message: str = "m") -> str:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    root.joinpath("profiles", "teams").mkdir(parents=True)
    git(root, "init", "--quiet", "--initial-branch=main")
    root.joinpath("profiles", "teams", "nlp.yaml").write_bytes(b"contact: a\r\n")
    root.joinpath("profiles-of-others.yaml").write_text("no\n")
    commit_all(root)
    return root


def content(root: Path, ref: str = "main", folder: str = "profiles") -> dict[str, bytes]:
    repository = Repository(root)
    listing = list_folder(repository, find_commit(repository, ref), folder)
    return dict(read_files(repository, listing.files))


def test_files_of_a_folder_only(root: Path) -> None:
    assert content(root) == {"teams/nlp.yaml": b"contact: a\r\n"}
    assert content(root, folder="profiles/clusters") == {}


def test_date_is_the_committers_day(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In UTC, so that it is the same for every reader."""
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2026-03-01T23:30:00-0500")
    commit_all(root)

    assert find_commit(Repository(root), "main").date == "2026-03-02"


@pytest.mark.parametrize("ref", ["nothing", "-h", "--help", "main:profiles", "", "main\n", "a b"])
def test_name_that_is_no_commit_is_refused(root: Path, ref: str) -> None:
    with pytest.raises(TreeError):
        find_commit(Repository(root), ref)


def test_no_configured_program_is_run(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Filters, drivers, hooks, monitors and aliases of the repository, of its commits and of the
    user; the content is the blob's, not what a filter would make of it."""
    mark, program = tmp_path / "ran", tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    root.joinpath(".gitattributes").write_text(
        "* filter=evil diff=evil merge=evil text eol=crlf ident export-subst\n"
    )
    git(root, "add", ".gitattributes")
    git(root, "commit", "--quiet", "--message", "attributes")
    for key in (
        "filter.evil.smudge",
        "filter.evil.clean",
        "filter.evil.process",
        "diff.evil.textconv",
        "diff.evil.command",
        "diff.external",
        "merge.evil.driver",
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "core.editor",
        "credential.helper",
        "alias.cat-file",
    ):
        git(root, "config", key, str(program))
    hooks = root / ".git" / "hooks"
    for hook in ("post-checkout", "post-index-change", "reference-transaction", "fsmonitor"):
        (hooks / hook).symlink_to(program)
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(program))
    monkeypatch.setenv("GIT_DIR", str(tmp_path))

    read = content(root)
    assert staged_submodules(Repository(root), "profiles") == []

    assert read == {"teams/nlp.yaml": b"contact: a\r\n"}
    assert not mark.exists()


def test_replaced_objects_are_read_as_committed(root: Path) -> None:
    """Whoever may push a ref could otherwise choose what the base was."""
    blob = git(root, "rev-parse", "main:profiles/teams/nlp.yaml")
    other = git(root, "hash-object", "-w", "--stdin", stdin=b"contact: evil\n")
    git(root, "replace", blob, other)
    assert git(root, "cat-file", "-p", blob) == "contact: evil"

    assert content(root) == {"teams/nlp.yaml": b"contact: a\r\n"}


def test_work_tree_of_another_user_is_read(root: Path) -> None:
    """In a container the user is often not the owner."""
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    for path in (root, root / ".git"):
        os.chown(path, 12345, 12345)

    assert content(root)


def test_folder_that_is_no_folder_has_no_file(root: Path) -> None:
    """The folder itself may be a submodule, a link or a file."""
    repository = Repository(root)
    folder = root / "overlays"
    folder.symlink_to("profiles")
    commit_all(root)
    link = list_folder(repository, find_commit(repository, "main"), "overlays")
    folder.unlink()
    folder.touch()
    commit_all(root)
    file = list_folder(repository, find_commit(repository, "main"), "overlays")
    folder.unlink()
    folder.mkdir()
    git(folder, "init", "--quiet")
    commit_all(folder)
    commit_all(root)
    submodule = list_folder(repository, find_commit(repository, "main"), "overlays")

    assert [each.files for each in (link, file, submodule)] == [{}, {}, {}]
    assert submodule.submodules == ("",)
    assert staged_submodules(repository, "overlays") == [""]


def test_missing_object_is_a_sentence(root: Path) -> None:
    """A partial clone lacks contents, and Git must not fetch them."""
    blob = git(root, "rev-parse", "main:profiles/teams/nlp.yaml")
    loose = root / ".git" / "objects" / blob[:2] / blob[2:]
    loose.unlink()

    with pytest.raises(ToolError, match="the clone is partial or broken"):
        content(root)


def test_merge_base_of_two_branches(root: Path) -> None:
    fork = git(root, "rev-parse", "main")
    git(root, "checkout", "--quiet", "-b", "topic")
    commit_all(root)
    git(root, "checkout", "--quiet", "main")
    commit_all(root, "another")
    git(root, "checkout", "--quiet", "--orphan", "stranger")
    commit_all(root, "stranger")
    repository = Repository(root)
    main, topic, stranger = (find_commit(repository, ref) for ref in ("main", "topic", "stranger"))

    found = merge_base(repository, main, topic)

    assert found is not None
    assert found.id == fork
    assert merge_base(repository, main, stranger) is None


NAMES = st.text(
    st.characters(blacklist_characters="/\0", blacklist_categories=["Cs"]), min_size=1, max_size=20
).filter(lambda name: name not in {".", "..", ".git"} and len(name.encode()) < 200)


@settings(max_examples=10, deadline=None)
@given(files=st.dictionaries(NAMES, st.binary(max_size=200), max_size=8))
def test_every_name_and_content_comes_back(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]
) -> None:
    """Also with line feeds, tabs and quotes in names."""
    root = tmp_path_factory.mktemp("names")
    git(root, "init", "--quiet", "--initial-branch=main")
    entries = b"".join(
        b"100644 blob %s\t%s\0"
        % (git(root, "hash-object", "-w", "--stdin", stdin=body).encode(), name.encode())
        for name, body in files.items()
    )
    inner = git(root, "mktree", "-z", stdin=entries)
    outer = git(root, "mktree", stdin=f"040000 tree {inner}\tprofiles\n".encode())
    git(root, "update-ref", "refs/heads/main", git(root, "commit-tree", outer, "-m", "m"))

    assert content(root) == files


@given(st.binary(max_size=200))
@settings(max_examples=20, deadline=None)
def test_id_of_content_is_the_one_that_git_gives(content: bytes) -> None:
    """In a repository with ids of 40 digits, and in one with 64."""
    for digits, form in ((40, "sha1"), (64, "sha256")):
        commit = Commit("0" * digits, "2026-11-23")
        with tempfile.TemporaryDirectory() as folder:
            git(Path(folder), "init", "--quiet", f"--object-format={form}")
            given_by_git = git(Path(folder), "hash-object", "--stdin", stdin=content)
        assert blob_id(content, commit) == given_by_git


def test_links_and_submodules_are_listed_apart(root: Path) -> None:
    """In a commit and, submodules, in the index; a folder of the same beginning is another."""
    commit = git(root, "rev-parse", "HEAD")
    root.joinpath("profiles", "link").symlink_to("teams")
    root.joinpath("profiles", "run").touch()
    root.joinpath("profiles", "run").chmod(0o755)
    git(root, "add", "--all")
    for path in ("profiles/s\u00fc b", "profiles-too/x"):
        git(root, "update-index", "--add", "--cacheinfo", f"160000,{commit},{path}")
    assert staged_submodules(Repository(root), "profiles") == ["s\u00fc b"]
    git(root, "commit", "--quiet", "--message", "m")
    listing = list_folder(Repository(root), find_commit(Repository(root), "main"), "profiles")

    assert (listing.links, listing.submodules) == (("link",), ("s\u00fc b",))
    assert {path: blob.executable for path, blob in listing.files.items()} == {
        "run": True,
        "teams/nlp.yaml": False,
    }


@pytest.mark.parametrize(
    "ref", ["nowhere", "HEAD^{x", "@{-1}", "main~99", ":/x", "a" * 40, "\n", ""]
)
def test_name_of_no_commit_is_a_fault_of_the_name(root: Path, ref: str) -> None:
    with pytest.raises(TreeError, match=r"names no commit of .*; fetch it first"):
        find_commit(Repository(root), ref)


def test_missing_git_is_no_fault_of_the_name(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fetching the commit would not help."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match="`git` is missing: install it"):
        find_commit(Repository(root), "main")


def test_broken_git_is_no_fault_of_the_name(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(program(tmp_path / "bin", "git", "exit 3").parent))
    with pytest.raises(ToolError, match=r"`git` failed with exit code 3"):
        find_commit(Repository(root), "main")
