"""The files that are profiles, and the findings about all others."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard.diagnostics import Diagnostic
from trainyard.profiles.discover import _NAME, ALONE, FOLDERS, ProfileFile, discover
from trainyard.rules.names.bad_file_name import RULE as BAD_FILE_NAME
from trainyard.rules.shape.misplaced_file import RULE as MISPLACED_FILE

KINDS = ("hardware", "clusters", "runtimes", "teams")


def place(root: Path, *files: str) -> None:
    for file in files:
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a: 1\n", encoding="utf-8")


def found(root: Path) -> list[str]:
    return [each.shown for each in discover(root) if isinstance(each, ProfileFile)]


def refused(root: Path) -> list[tuple[str, str]]:
    return [(each.rule, each.at.file) for each in discover(root) if isinstance(each, Diagnostic)]


def test_profiles_are_found_in_the_order_of_their_names(tmp_path: Path) -> None:
    """A file's folder is its kind, and its name without ending is its name."""
    place(
        tmp_path,
        "teams/nlp.yaml",
        "hardware/b-2.yaml",
        "hardware/a.yaml",
        "components/c/kustomization.yaml",
        *ALONE,
    )

    assert [
        (each.kind, each.name, each.shown)
        for each in discover(tmp_path)
        if isinstance(each, ProfileFile)
    ] == [
        ("allocations", "allocations", "profiles/allocations.yaml"),
        ("components", "c", "profiles/components/c/kustomization.yaml"),
        ("hardware", "a", "profiles/hardware/a.yaml"),
        ("hardware", "b-2", "profiles/hardware/b-2.yaml"),
        ("teams", "nlp", "profiles/teams/nlp.yaml"),
        ("trainyard", "trainyard", "profiles/trainyard.yaml"),
        ("waivers", "waivers", "profiles/waivers.yaml"),
    ]
    assert refused(tmp_path) == []


def test_path_found_is_the_file_itself(tmp_path: Path) -> None:
    """The shown name hides the real folder, so the path must lead to the file."""
    place(tmp_path, "teams/nlp.yaml", "components/c/kustomization.yaml")
    paths = [each.path for each in discover(tmp_path) if isinstance(each, ProfileFile)]

    assert paths == [tmp_path / "components/c/kustomization.yaml", tmp_path / "teams/nlp.yaml"]


@pytest.mark.parametrize(
    "file",
    [
        *("notes.txt", "team/nlp.yaml", "trainyard.yml", "Teams/nlp.yaml"),
        *(f"{kind}/a.yml" for kind in KINDS),
        *("teams/nlp", "teams/nlp.YAML", "teams/nlp.yaml.orig", "teams/more/nlp.yaml"),
        *(
            "components/loose.yaml",
            "components/c/kustomization.yml",
            "components/c/deep/kustomization.yaml",
        ),
    ],
)
def test_misplaced_file_is_refused(file: str, tmp_path: Path) -> None:
    """The finding is at the outermost name that is not a profile."""
    place(tmp_path, file)
    top, *rest = file.split("/")
    shown = f"profiles/{top}/{rest[0]}" if top in FOLDERS else f"profiles/{top}"

    assert refused(tmp_path) == [(MISPLACED_FILE.id, shown)]
    assert found(tmp_path) == []


@pytest.mark.parametrize(
    "name", ["NLP", "1st", "-a", "a-", "a_b", "a.b", "ä", "a b", "a\nb", "a\n", "a" * 41]
)
@pytest.mark.parametrize("form", ["teams/{}.yaml", "components/{}/kustomization.yaml"])
def test_bad_name_is_refused(form: str, name: str, tmp_path: Path) -> None:
    """The API server would refuse such a name in a namespace or label."""
    place(tmp_path, form.format(name))
    (diagnostic,) = discover(tmp_path)

    assert isinstance(diagnostic, Diagnostic)
    assert diagnostic.rule == BAD_FILE_NAME.id
    assert f"`{name}`" in diagnostic.message


@given(st.text(alphabet="abz019-_.A\n", max_size=42))
def test_name_is_an_rfc_1123_label_that_begins_with_a_letter(name: str) -> None:
    """The expected names come from another form of the rule."""
    allowed = set("abcdefghijklmnopqrstuvwxyz0123456789-")
    good = bool(name) and len(name) <= 40 and set(name) <= allowed
    good = good and name[0].isalpha() and not name.endswith("-")

    assert bool(_NAME.match(name)) is good


@pytest.mark.parametrize(
    "file",
    [
        ".gitkeep",
        "teams/.gitkeep",
        "teams/.nlp.yaml.swp",
        "teams/.DS_Store",
        ".idea/x.xml",
        "teams/.nlp.yaml~",
    ],
)
def test_what_editors_and_git_leave_is_passed_over(file: str, tmp_path: Path) -> None:
    """A hidden file that does not end like a profile is neither a profile nor a mistake."""
    place(tmp_path, file)

    assert list(discover(tmp_path)) == []


def test_lock_of_emacs_is_passed_over(tmp_path: Path) -> None:
    """Emacs marks the file that it edits with a dangling symlink beside it."""
    place(tmp_path, "teams/nlp.yaml")
    (tmp_path / "teams" / ".#nlp.yaml").symlink_to("ann@host.4711:1700000000")

    assert refused(tmp_path) == []
    assert found(tmp_path) == ["profiles/teams/nlp.yaml"]


@pytest.mark.parametrize(
    "file",
    [
        *(
            ".nlp.yaml",
            ".yaml",
            "teams/.nlp.yaml",
            "teams/.x.yml",
            "teams/.X.YAML",
            ".teams/nlp.yaml",
        ),
        *("components/.c/kustomization.yaml", "components/.c/deep/er/a.yaml"),
    ],
)
def test_hidden_profile_is_refused(file: str, tmp_path: Path) -> None:
    """Its author would think that it is delivered."""
    place(tmp_path, file)

    assert refused(tmp_path) == [(MISPLACED_FILE.id, f"profiles/{file}")]
    assert found(tmp_path) == []


@pytest.mark.parametrize("name", ["con", "nul", "aux", "prn", "com1", "lpt9"])
@pytest.mark.parametrize("form", ["teams/{}.yaml", "components/{}/kustomization.yaml"])
def test_name_of_a_device_is_refused(form: str, name: str, tmp_path: Path) -> None:
    """Windows can't check out a repository that has such a file or folder."""
    place(tmp_path, form.format(name))
    (diagnostic,) = discover(tmp_path)

    assert isinstance(diagnostic, Diagnostic)
    assert diagnostic.rule == BAD_FILE_NAME.id
    assert diagnostic.message == f"`{name}` is the name of a device on Windows"


@pytest.mark.parametrize("name", ["null", "on", "off", "true", "false", "yes", "no", "y", "n"])
@pytest.mark.parametrize(
    "form",
    [
        "teams/{}.yaml",
        "clusters/{}.yaml",
        "runtimes/{}.yaml",
        "hardware/{}.yaml",
        "compliance/{}.yaml",
        "components/{}/kustomization.yaml",
    ],
)
def test_name_that_yaml_reads_as_something_else_is_refused(
    form: str, name: str, tmp_path: Path
) -> None:
    """`runtimes: [on]` would name nothing."""
    place(tmp_path, form.format(name))
    (diagnostic,) = discover(tmp_path)

    assert isinstance(diagnostic, Diagnostic)
    assert diagnostic.rule == BAD_FILE_NAME.id
    assert diagnostic.message == f"`{name}` is not text to every YAML reader"


def test_name_that_looks_like_ascii_is_reported_by_code_point(tmp_path: Path) -> None:
    """The screen does not show the difference; the message does."""
    place(tmp_path, "teams/n\u0430no.yaml")
    (diagnostic,) = discover(tmp_path)

    assert isinstance(diagnostic, Diagnostic)
    assert diagnostic.message.endswith("; it holds U+0430 CYRILLIC SMALL LETTER A")


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("trainyard.yaml", "secret.yaml"),
        ("teams/nlp.yaml", "secret.yaml"),
        ("teams", "elsewhere"),
        ("components/c", "elsewhere"),
        ("components/c/kustomization.yaml", "secret.yaml"),
        ("teams/gone.yaml", "nowhere.yaml"),
    ],
)
def test_symbolic_link_is_refused(link: str, target: str, tmp_path: Path) -> None:
    """A link could lead out of the repository: neither a file, a folder nor a Component may be
    one."""
    place(tmp_path, "secret.yaml", "elsewhere/kustomization.yaml", "elsewhere/nlp.yaml")
    root = tmp_path / "profiles"
    (root / link).parent.mkdir(parents=True)
    (root / link).symlink_to(tmp_path / target)

    assert [rule for rule, _ in refused(root)] == [MISPLACED_FILE.id]
    assert found(root) == []


@pytest.mark.parametrize(
    "file", ["trainyard.yaml", "teams/nlp.yaml", "components/c/kustomization.yaml"]
)
def test_fifo_is_refused(file: str, tmp_path: Path) -> None:
    """A pipe would block the reader without end."""
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(tmp_path / file)

    assert [rule for rule, _ in refused(tmp_path)] == [MISPLACED_FILE.id]
    assert found(tmp_path) == []


def test_folder_named_as_a_file_is_refused(tmp_path: Path) -> None:
    """A folder `trainyard.yaml` and a file `teams` are not profiles."""
    place(tmp_path, "trainyard.yaml/a", "teams")

    assert refused(tmp_path) == [
        (MISPLACED_FILE.id, "profiles/teams"),
        (MISPLACED_FILE.id, "profiles/trainyard.yaml"),
    ]


@pytest.mark.parametrize(
    ("path", "kind", "message", "hint"),
    [
        (
            "teams/x.yaml",
            "link",
            "`x.yaml` is a symbolic link, and a profile must be a regular file",
            "Replace the link by the file itself.",
        ),
        (
            "waivers.yaml",
            "link",
            "`waivers.yaml` is a symbolic link, and a profile must be a regular file",
            "Replace the link by the file itself.",
        ),
        (
            "teams/x.yaml",
            "fifo",
            "`x.yaml` is a FIFO, and a profile must be a regular file",
            "Replace it by a regular file, or remove it.",
        ),
        (
            "teams/x.yaml",
            "socket",
            "`x.yaml` is a socket, and a profile must be a regular file",
            "Replace it by a regular file, or remove it.",
        ),
        (
            "teams/x.yaml",
            "folder",
            "`x.yaml` is a folder, and a profile must be a regular file",
            "Replace it by a regular file, or remove it.",
        ),
        (
            "teams",
            "link",
            "`teams` is a symbolic link, and a folder of profiles must be a folder",
            "Replace the link by the folder itself.",
        ),
        (
            "teams",
            "file",
            "`teams` is a regular file, and a folder of profiles must be a folder",
            "Replace it by a folder, or remove it.",
        ),
        (
            "components/c",
            "link",
            "`c` is a symbolic link, and a component must be a folder",
            "Replace the link by the folder itself.",
        ),
        (
            "components/c/kustomization.yaml",
            "fifo",
            "`kustomization.yaml` is a FIFO, and a profile must be a regular file",
            "Replace it by a regular file, or remove it.",
        ),
    ],
)
def test_wrong_type_of_file_is_named(
    path: str, kind: str, message: str, hint: str, tmp_path: Path
) -> None:
    """The place and the name are right, so the help is about the type and not about another
    folder."""
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    _make(tmp_path / path, kind)
    (found,) = discover(tmp_path)

    assert isinstance(found, Diagnostic)
    assert (found.at.file, found.message, found.hint) == (f"profiles/{path}", message, hint)


def _make(path: Path, kind: str) -> None:
    if kind == "link":
        path.symlink_to("elsewhere")
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "socket":
        os.mknod(path, stat.S_IFSOCK | 0o600)
    else:
        path.touch()
