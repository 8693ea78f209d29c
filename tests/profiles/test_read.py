"""Files become sources; a Component's files are read beside it, with findings at its entries."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from trainyard.diagnostics import Diagnostic, Pointer, TreeError
from trainyard.profiles import read as read_module
from trainyard.profiles.discover import ProfileFile, discover
from trainyard.profiles.read import PACKAGE, load
from trainyard.rules.delivery.broken_component import RULE as BROKEN_COMPONENT
from trainyard.rules.shape.misplaced_file import RULE as MISPLACED_FILE
from trainyard.yaml_io.bytescan import MAX_BYTES

CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"
KUSTOMIZATION = "profiles/components/c/kustomization.yaml"


@pytest.fixture
def component(tmp_path: Path) -> Path:
    """The folder of a Component."""
    folder = tmp_path / "components" / "c"
    folder.mkdir(parents=True)
    return folder


def listed(folder: Path, *entries: str) -> tuple[dict[str, int], list[Diagnostic]]:
    """Return how many objects each listed file gave, and the problems."""
    lines = "".join(f"\n  - {entry}" for entry in entries)
    (folder / "kustomization.yaml").write_text(
        f"kind: Component\nresources:{lines}\n", encoding="utf-8"
    )
    profiles, found = load(folder.parents[1])
    return {
        file: len(bodies) for file, bodies in profiles.component_objects[folder.name].items()
    }, list(found)


def only(found: list[Diagnostic], index: int = 0) -> str:
    """Return the message of the only finding, which must be at an entry of the Component."""
    (diagnostic,) = found
    assert diagnostic.rule == BROKEN_COMPONENT.id
    assert diagnostic.at == Pointer(KUSTOMIZATION, ("resources", index))
    return diagnostic.message


def test_empty_folder_gives_empty_profiles(tmp_path: Path) -> None:
    """The files at the top may be absent; missing settings are reported by a later stage."""
    profiles, found = load(tmp_path)

    assert found == ()
    assert (profiles.settings.content, profiles.settings.value) == (b"", None)
    assert (profiles.allocations.value, profiles.waivers.value) == ({}, {})
    assert [
        *profiles.hardware,
        *profiles.clusters,
        *profiles.runtimes,
        *profiles.teams,
        *profiles.components,
    ] == []


def test_each_kind_goes_to_its_place(profiles: Path) -> None:
    """The flagship's files are sorted by folder, and each is shown under `profiles/`."""
    read, found = load(profiles)

    assert found == ()
    kinds = {each: getattr(read, each) for each in ("hardware", "clusters", "runtimes", "teams")}
    for kind, sources in kinds.items():
        assert sorted(sources) == sorted(path.stem for path in (profiles / kind).iterdir())
        assert all(
            source.file == f"profiles/{kind}/{name}.yaml" for name, source in sources.items()
        )
    assert read.settings.value["domain"] == "ml.example.com"
    assert read.component_objects.keys() == read.components.keys() == {"simulation-defaults"}


def test_shipped_files_have_no_fault() -> None:
    """What ships is read by the same reader; the name of a release is its folder's."""
    profiles, _ = load(PACKAGE / "presets" / "..")
    shipped = {**profiles.presets, **profiles.releases}

    assert sorted(profiles.presets) == sorted(
        path.stem for path in (PACKAGE / "presets").glob("*.yaml")
    )
    assert "openshift-ai-3.5" in profiles.releases
    assert all(isinstance(source.value, dict) for source in shipped.values())
    assert all(source.file.startswith("trainyard:") for source in shipped.values())


def test_reading_goes_on_after_a_fault(tmp_path: Path) -> None:
    """Misplaced and unreadable files are reported in one run, and the others are read."""
    (tmp_path / "teams").mkdir()
    (tmp_path / "notes.txt").touch()
    (tmp_path / "teams" / "bad.yaml").write_text("a: [", encoding="utf-8")
    (tmp_path / "teams" / "good.yaml").write_text("a: 1\n", encoding="utf-8")
    profiles, found = load(tmp_path)

    assert [(each.rule, each.at.file) for each in found] == [
        (MISPLACED_FILE.id, "profiles/notes.txt"),
        ("shape/not-yaml", "profiles/teams/bad.yaml"),
    ]
    assert profiles.teams["bad"].value is None
    assert profiles.teams["good"].value == {"a": 1}


def test_unreadable_file_is_no_finding_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends the run, since findings without it could be wrong."""

    def deny(*_: object) -> bytes:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "trainyard.yaml").touch()
    monkeypatch.setattr(read_module, "read_regular", deny)

    with pytest.raises(TreeError, match=r"trainyard\.yaml: Permission denied"):
        load(tmp_path)


def test_huge_file_is_a_finding_and_is_not_read(tmp_path: Path) -> None:
    """Of a sparse file of a terabyte, only the limit and one byte are read."""
    (tmp_path / "teams").mkdir()
    with (tmp_path / "teams" / "a.yaml").open("wb") as file:
        file.truncate(2**40)
    profiles, (found,) = load(tmp_path)

    assert (found.rule, found.at) == (
        "shape/too-large",
        Pointer("profiles/teams/a.yaml", line=1, column=1),
    )
    assert len(profiles.teams["a"].content) == MAX_BYTES + 1


@pytest.mark.parametrize(
    ("file", "replacement"),
    [
        *(("trainyard.yaml", each) for each in ("link", "fifo", "folder")),
        *(("teams/nlp.yaml", each) for each in ("link", "fifo", "folder", "linked folder")),
        *(
            ("components/c/kustomization.yaml", each)
            for each in ("link", "fifo", "folder", "linked folder")
        ),
    ],
)
def test_profile_that_is_exchanged_after_the_listing_is_a_finding(
    file: str, replacement: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link's target is not read, a FIFO not waited for, and a folder that became a link not
    entered."""
    outside = tmp_path / "outside" / Path(file).name
    root = tmp_path / "profiles"
    for path in (outside, root / file):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("root:x:0:0\n", encoding="utf-8")

    def swapping(folder: Path) -> list[ProfileFile | Diagnostic]:
        listed = list(discover(folder))
        _exchange(root / file, outside, replacement)
        return listed

    monkeypatch.setattr(read_module, "discover", swapping)
    profiles, (found,) = load(root)

    assert (found.rule, found.at) == (MISPLACED_FILE.id, Pointer(f"profiles/{file}"))
    assert found.message.endswith("it is not a regular file")
    assert all(b"root:x" not in source.content for source in profiles.sources().values())


def _exchange(path: Path, outside: Path, replacement: str) -> None:
    gone = path.parent if replacement == "linked folder" else path
    gone.rename(path.parents[1] / "gone")
    if replacement == "linked folder":
        path.parent.symlink_to(outside.parent)
    elif replacement == "link":
        path.symlink_to(outside)
    elif replacement == "fifo":
        os.mkfifo(path)
    else:
        path.mkdir()


def test_component_objects_are_read(component: Path) -> None:
    """Each listed file gives all of its objects, under the name by which it is listed."""
    (component / "a.yaml").write_text(f"{CONFIG_MAP}---\n{CONFIG_MAP}", encoding="utf-8")
    (component / "b.yaml").write_text(CONFIG_MAP, encoding="utf-8")

    assert listed(component, "a.yaml", "b.yaml") == ({"a.yaml": 2, "b.yaml": 1}, [])


def test_file_that_a_component_lists_often_is_read_once(component: Path) -> None:
    """The shape check reports the repetition; reading ten thousand times would take minutes."""
    (component / "a.yaml").write_text(f"{CONFIG_MAP}# \u202e\n", encoding="utf-8")
    _, found = listed(component, *["a.yaml"] * 3, "gone.yaml", "gone.yaml")

    assert [(each.rule, each.at.path) for each in found] == [
        ("shape/hidden-character", ()),
        (BROKEN_COMPONENT.id, ("resources", 3)),
    ]


def test_component_without_resources_has_no_objects(component: Path) -> None:
    """A Component may only patch or label; the shape check reports resources not in a list."""
    for text in ("kind: Component\n", "resources: a.yaml\n", "[", "- a\n"):
        (component / "kustomization.yaml").write_text(text, encoding="utf-8")
        profiles, found = load(component.parents[1])
        assert profiles.component_objects["c"] == {}
        assert BROKEN_COMPONENT.id not in {each.rule for each in found}


def test_missing_file_of_a_component_is_reported_at_its_entry(component: Path) -> None:
    """The index of the entry is in the place, and the other entries are read."""
    (component / "a.yaml").write_text(CONFIG_MAP, encoding="utf-8")
    objects, found = listed(component, "a.yaml", "gone.yaml")

    assert objects == {"a.yaml": 1}
    assert "`gone.yaml` can't be used: No such file" in only(found, 1)


@pytest.mark.parametrize(
    "entry",
    ["../d/a.yaml", "deep/a.yaml", "../../trainyard.yaml", "deep/../a.yaml", "/etc/hostname"],
)
def test_file_from_elsewhere_is_not_read(entry: str, component: Path) -> None:
    """A Component lists only files beside it, even if the other file exists."""
    for folder in (component, component / "deep", component.parent / "d"):
        folder.mkdir(exist_ok=True)
        (folder / "a.yaml").write_text(CONFIG_MAP, encoding="utf-8")
    (component.parent / "d" / "kustomization.yaml").touch()
    (component.parents[1] / "trainyard.yaml").write_text(CONFIG_MAP, encoding="utf-8")
    objects, found = listed(component, entry)

    assert objects == {}
    assert "not a file beside the kustomization" in only(
        [each for each in found if each.at.file == KUSTOMIZATION]
    )


def test_symbolic_link_of_a_component_is_not_followed(component: Path, tmp_path: Path) -> None:
    """A link beside the kustomization could lead anywhere."""
    (tmp_path / ".secret").write_text(CONFIG_MAP, encoding="utf-8")
    (component / "a.yaml").symlink_to(tmp_path / ".secret")
    objects, found = listed(component, "a.yaml")

    assert objects == {}
    assert "not a file beside the kustomization" in only(found)


@pytest.mark.parametrize(
    ("content", "reason", "place"),
    [
        (b"a: [", "can't be used: did not find expected node content", (1, 5)),
        (b"a: 1\na: 2\n", "can't be used: key `a` is there twice", (2, 1)),
        (b"a: &x 1\nb: *x\n", "can't be used: an alias or a tag", (2, 4)),
        (b"# a\n- 1\n", "has no `apiVersion`, `kind`, `metadata.name`", (2, 1)),
        (b"text\n", "has no `apiVersion`, `kind`, `metadata.name`", (1, 1)),
        (b"kind: ConfigMap\nmetadata: {name: x}\n", "has no `apiVersion`", (1, 1)),
        (b"apiVersion: v1\nmetadata: {name: x}\n", "has no `kind`", (1, 1)),
        (b"apiVersion: v1\nkind: ConfigMap\n", "has no `metadata.name`", (1, 1)),
        (b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n", "has no `metadata.name`", (3, 1)),
        (b"apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n", "has no `metadata.name`", (3, 1)),
        (b"apiVersion: v1\nkind: ConfigMap\nmetadata: [name]\n", "has no `metadata.name`", (3, 1)),
        (
            b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 7}\n",
            "has no `metadata.name`",
            (3, 18),
        ),
        (b"apiVersion: 1\nkind: ConfigMap\nmetadata: {name: x}\n", "has no `apiVersion`", (1, 13)),
        (b"apiVersion: v1\nkind: ''\nmetadata: {name: x}\n", "has no `kind`", (2, 7)),
        (b"apiVersion: v1\nkind: [ConfigMap]\nmetadata: {name: x}\n", "has no `kind`", (2, 7)),
        (
            f"{CONFIG_MAP}---\nkind: ConfigMap\n".encode(),
            "has no `apiVersion`, `metadata.name`",
            (5, 1),
        ),
        (b"[" * 20_000, "can't be used: more than 100 levels of mappings and lists", (1, 101)),
    ],
)
def test_broken_file_of_a_component_is_reported(
    content: bytes, reason: str, place: tuple[int, int], component: Path
) -> None:
    """There is one finding at the line, and no object of the file is used."""
    (component / "a.yaml").write_bytes(content)
    objects, (found,) = listed(component, "a.yaml")
    mark = load(component.parents[1])[0].sources()[found.at.file].mark(found.at)

    assert objects == {}
    assert (found.rule, found.at.file) == (BROKEN_COMPONENT.id, "profiles/components/c/a.yaml")
    assert reason in found.message
    assert (mark.line, mark.column) == place


def test_fifo_of_a_component_is_not_waited_for(component: Path) -> None:
    """Only regular files are read: a FIFO would block the reader."""
    os.mkfifo(component / "a.yaml")
    _, found = listed(component, "a.yaml")

    assert "not a file beside the kustomization" in only(found)


def test_huge_file_of_a_component_is_a_finding_and_is_not_read(component: Path) -> None:
    """A hand-written file has the limit of a profile."""
    with (component / "a.yaml").open("wb") as file:
        file.truncate(2**40)
    _, (found,) = listed(component, "a.yaml")

    assert (found.rule, found.at.file) == ("shape/too-large", "profiles/components/c/a.yaml")


@pytest.mark.parametrize(
    ("content", "rule", "column"),
    [
        (f"{CONFIG_MAP}# \u202e\n".encode(), "shape/hidden-character", 3),
        (f"{CONFIG_MAP}# \xff\n".encode("latin-1"), "shape/not-utf8", 3),
        (f"{CONFIG_MAP}{' ' * MAX_BYTES}".encode(), "shape/too-large", 1),
        (f"{CONFIG_MAP}data: {{password: a{'b' * 9}}}\n".encode(), "delivery/secret-in-git", 18),
    ],
)
def test_file_of_a_component_is_read_like_a_profile(
    content: bytes, rule: str, column: int, component: Path
) -> None:
    """Content that no profile may hold is reported at its own place, and the file is not used."""
    (component / "a.yaml").write_bytes(content)
    objects, found = listed(component, "a.yaml")

    assert objects == {}
    assert [(each.rule, each.at.file, each.at.column) for each in found] == [
        (rule, "profiles/components/c/a.yaml", column)
    ]
    profiles, _ = load(component.parents[1])
    assert profiles.sources()["profiles/components/c/a.yaml"].content == content[: MAX_BYTES + 1]


def test_file_that_a_component_does_not_list_is_misplaced(component: Path) -> None:
    """Hidden YAML is reported too; an editor's files are not."""
    for name in ("a.yaml", "b.yaml", ".b.yaml", ".b.yaml.swp"):
        (component / name).write_text(CONFIG_MAP, encoding="utf-8")
    (component / "deep").mkdir()
    objects, found = listed(component, "a.yaml")

    assert objects == {"a.yaml": 1}
    assert [(each.rule, each.at.file) for each in found] == [
        (MISPLACED_FILE.id, f"profiles/components/c/{name}")
        for name in (".b.yaml", "b.yaml", "deep")
    ]
