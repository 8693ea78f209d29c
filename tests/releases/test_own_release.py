"""Releases of a repository: made by a command, read as shipped ones are, refused when changed."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.calls import Ended, edit
from tests.cli.fixtures import here, plain, trainyard  # noqa: F401
from tests.histories import History
from tests.releases.dumps import crd_of, dump_of, write_dump
from trainyard.profiles.read import load, releases
from trainyard.profiles.releases import digest_of
from trainyard.schema.manifests import effective
from trainyard.workflows.known_releases import release_of

Call = Callable[..., Ended]
OLD, NEW = "kubernetes-1.34", "kubernetes-1.36"
VERSIONS = ("--set", "kueue=0.16.2", "--set", "trainer=2.1.0", "--set", "jobset=0.11.0")
FOLDER = Path("profiles/releases/site")
SETTINGS = Path("profiles/trainyard.yaml")
TRAINJOB = "schemas/trainer.kubeflow.org/trainjob_v1alpha1.json"


@pytest.fixture
def platform(here: Path, trainyard: Call) -> Path:  # noqa: F811
    """A new repository on a shipped release."""
    assert trainyard("init", "--release", NEW).code == 0
    assert trainyard("add", "team", "nlp", "--nodes", "2").code == 0
    return here


@pytest.fixture
def site(platform: Path, trainyard: Call) -> Path:  # noqa: F811
    """The same with a release of its own, made without Go from the CRDs of an older one."""
    dump = write_dump(platform / "crds.json", OLD)
    ended = trainyard("release", "new", "site", "--from", NEW, "--facts", str(dump), *VERSIONS)
    assert ended.code == 0, ended
    return platform


def seal(folder: Path = FOLDER) -> None:
    """State the digest that the folder has now, as a reviewer does."""
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    text = SETTINGS.read_text("utf-8")
    name = re.escape(folder.name)
    text = re.sub(rf"(?m)^(  {name}: )sha256:\w+", rf"\g<1>{digest_of(files)}", text)
    SETTINGS.write_text(text, "utf-8")


def refused(ended: Ended, rule: str, text: str) -> None:
    assert ended.code == 1, ended
    found = set(re.findall(r"(?m)^error\[(.*?)\]", ended.out))
    assert rule in found, ended.out
    assert found <= {rule, "release/unusable-release"}, ended.out
    assert text in ended.out


def test_what_follows_equals_the_shipped_release(site: Path) -> None:
    """Features, limits and schemas of CRDs are those that a developer wrote for these versions."""
    profiles, found = load(site / "profiles")
    assert found == ()
    made, wanted = release_of(profiles, "site"), release_of(profiles, OLD)
    assert made.features == wanted.features
    assert (made.groups_podsets, made.sdk) == (wanted.groups_podsets, wanted.sdk)
    assert (made.most_flavors, made.most_resources) == (16, 16)
    assert made.known_bad == wanted.known_bad
    ours, theirs = effective(made.schemas), effective(wanted.schemas)
    for crd in dump_of(OLD)["items"]:
        spec = crd["spec"]
        path = f"schemas/{spec['group']}/{spec['names']['kind'].lower()}_"
        (name,) = (each for each in theirs if each.startswith(path))
        assert ours[name] == theirs[name]


def test_folder_has_only_what_differs(site: Path) -> None:
    assert sorted(path.name for path in (site / FOLDER / "schemas").rglob("*.json")) == [
        "clusterqueue_v1beta2.json",
        "clustertrainingruntime_v1alpha1.json",
        "trainjob_v1alpha1.json",
    ]
    stated = (site / FOLDER / "release.yaml").read_text("utf-8")
    assert "extends: kubernetes-1.36" in stated
    assert "tested: schemas" in stated
    record = json.loads((site / FOLDER / "source.json").read_text("utf-8"))
    assert set(record) == {"crds", "inherited"}
    assert "Namespace" in record["inherited"]


def test_cluster_names_it_over_a_committed_tree(site: Path, trainyard: Call) -> None:  # noqa: F811
    """It is generated, changed, refused, reverted and changed again; the lockfile sees each."""
    profile = next((site / "profiles/clusters").glob("*.yaml"))
    edit(profile, f"release: {NEW}", "release: site")
    ended = trainyard("generate")
    assert ended.code == 0, ended
    assert "warning[release/not-rehearsed]" in ended.out + ended.err
    lock = next((site / "overlays").glob("*/trainyard.lock*"))
    before = lock.read_bytes()
    assert b'"release": "site sha256:' in before

    release, settings = site / FOLDER / "release.yaml", SETTINGS.read_bytes()
    stated = release.read_bytes()
    edit(release, 'trainer: "2.1.0"', 'trainer: "2.1.1"')
    refused(trainyard("generate"), "release/changed-release", "states sha256:")
    assert lock.read_bytes() == before
    seal()
    assert trainyard("generate").code == 0
    assert lock.read_bytes() != before

    release.write_bytes(stated)
    SETTINGS.write_bytes(settings)
    assert trainyard("generate").code == 0
    assert lock.read_bytes() == before


def test_change_of_the_folder_is_reviewed(
    site: Path,
    trainyard: Call,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`diff` reads the releases of both sides, and shows that the digest and a version differ."""
    profile = next((site / "profiles/clusters").glob("*.yaml"))
    edit(profile, f"release: {NEW}", "release: site")
    assert trainyard("generate").code == 0
    history = History(site, capsys)
    history.git("init", "--quiet")
    history.git("add", "--all")
    history.git("commit", "--quiet", "--message=base")
    edit(site / FOLDER / "release.yaml", 'jobset: "0.11.0"', 'jobset: "0.11.2"')
    seal()
    assert trainyard("generate").code == 0
    ended = trainyard("diff", "--base", "HEAD")
    assert ended.code == 0, ended
    assert re.search(r"has release .*site sha256:\w+ -> site sha256:\w+", ended.out), ended.out
    assert "0.11.0 -> 0.11.2" in ended.out


def test_rehearsed_release_brings_no_warning(site: Path, trainyard: Call) -> None:  # noqa: F811
    profile = next((site / "profiles/clusters").glob("*.yaml"))
    edit(profile, f"release: {NEW}", "release: site")
    assert "not-rehearsed" in trainyard("validate").out
    edit(site / FOLDER / "release.yaml", "tested: schemas", "tested: rehearsed")
    seal()
    assert "not-rehearsed" not in trainyard("validate").out


def test_objects_are_checked_against_its_schemas(site: Path, trainyard: Call) -> None:  # noqa: F811
    """A field that its ClusterQueue lacks is refused, whatever the release that it extends has."""
    profile = next((site / "profiles/clusters").glob("*.yaml"))
    edit(profile, f"release: {NEW}", "release: site")
    schema = site / FOLDER / "schemas/kueue.x-k8s.io/clusterqueue_v1beta2.json"
    body = json.loads(schema.read_bytes())
    del body["properties"]["spec"]["properties"]["resourceGroups"]
    schema.write_text(json.dumps(body), "utf-8")
    seal()
    refused(trainyard("generate"), "release/invalid-manifest", "unknown field `resourceGroups`")


def test_release_of_a_release(site: Path, trainyard: Call) -> None:  # noqa: F811
    """The next one extends it; without it neither is used."""
    ended = trainyard("release", "new", "next", "--from", "site", "--set", "jobset=0.11.1")
    assert ended.code == 0, ended
    assert "tested: none, since no cluster here has release site" in ended.out
    profiles, found = load(site / "profiles")
    assert found == ()
    assert release_of(profiles, "next").versions["kueue"] == "0.16.2"
    inherited, own = (release_of(profiles, name).schemas for name in ("next", "site"))
    assert (inherited.base, inherited.own) == (own.base, own.own)
    shutil.rmtree(site / FOLDER)
    ended = trainyard("validate")
    assert ended.code == 1
    assert "`extends` names no release that can be used: 'site'" in ended.out
    assert "release site: there is no folder profiles/releases/site" in ended.out


def test_add_cluster_takes_it(site: Path, trainyard: Call) -> None:  # noqa: F811
    hardware = next((site / "profiles/hardware").glob("*.yaml")).stem
    pool = f"gpu={hardware}:4"
    ended = trainyard("add", "cluster", "more", "--release", "site", "--pool", pool)
    assert "release: site" in (site / "profiles/clusters/more.yaml").read_text("utf-8"), ended


def test_fmt_leaves_it(site: Path, trainyard: Call) -> None:  # noqa: F811
    """Another style would be another digest."""
    edit(site / FOLDER / "release.yaml", "features:", "features:   # here\n")
    before = (site / FOLDER / "release.yaml").read_bytes()
    assert trainyard("fmt").code == 0
    assert (site / FOLDER / "release.yaml").read_bytes() == before


def _set(path: str, content: bytes) -> Callable[[], None]:
    def change() -> None:
        (FOLDER / path).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / path).write_bytes(content)

    return change


def _many(number: int, content: bytes) -> Callable[[], None]:
    def change() -> None:
        for each in range(number):
            _set(f"schemas/a.b/k{each}_v1.json", content)()

    return change


def _schema(change: Callable[[dict[str, Any]], object]) -> Callable[[], None]:
    def changed() -> None:
        body = json.loads((FOLDER / TRAINJOB).read_bytes())
        change(body)
        (FOLDER / TRAINJOB).write_text(json.dumps(body), "utf-8")

    return changed


def _link(path: str, target: str) -> Callable[[], None]:
    def change() -> None:
        if (FOLDER / path).is_dir():
            shutil.rmtree(FOLDER / path)
        (FOLDER / path).unlink(missing_ok=True)
        (FOLDER / path).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / path).symlink_to(target)

    return change


def _extends(base: str) -> Callable[[], None]:
    return lambda: edit(FOLDER / "release.yaml", f"extends: {NEW}", f"extends: {base}")


def _state(line: str) -> Callable[[], None]:
    return lambda: edit(FOLDER / "release.yaml", "sdk:", f"{line}\nsdk:")


DEEP = b'{"a":' * 100_000
UNUSABLE = "release/unusable-release"
HOSTILE: dict[str, tuple[Callable[[], None], str, str]] = {
    "empty-schema": (_set(TRAINJOB, b"{}"), UNUSABLE, "accepts every field: it is not closed"),
    "true-schema": (_set(TRAINJOB, b"true"), UNUSABLE, "accepts every field"),
    "no-json": (_set(TRAINJOB, b"{"), UNUSABLE, "is not a schema"),
    "no-text": (_set(TRAINJOB, b"\xff\xfe"), UNUSABLE, "is not a schema"),
    "deep-json": (_set(TRAINJOB, DEEP), UNUSABLE, "is not a schema"),
    "open-spec": (_schema(lambda body: body["properties"].update(spec={})), UNUSABLE, "any value"),
    "open-object": (
        _schema(lambda body: body["properties"].update(spec={"type": "object"})),
        UNUSABLE,
        "accepts every field of `spec`",
    ),
    "map-for-object": (
        _schema(
            lambda body: body["properties"].update(
                spec={"type": "object", "additionalProperties": {}}
            )
        ),
        UNUSABLE,
        "accepts every field of `spec`",
    ),
    "other-kind": (
        _schema(lambda body: body["properties"].update(kind={"const": "Pod"})),
        UNUSABLE,
        "is not the kind in its name",
    ),
    "reference-to-a-file": (
        _schema(
            lambda body: body["properties"].update(spec={"$ref": "file:///etc/passwd"}),
        ),
        UNUSABLE,
        "is not a schema: Resource 'file:///etc/passwd' is not present",
    ),
    "reference-to-a-part": (
        _schema(lambda body: body["properties"].update(spec={"$ref": "#/properties/metadata"})),
        UNUSABLE,
        "refers to '#/properties/metadata', which is not in it",
    ),
    "reference-to-a-number": (
        _schema(lambda body: body["properties"].update(spec={"$ref": 5})),
        UNUSABLE,
        "is not a schema: 5 is not of type",
    ),
    "required-number": (
        _schema(lambda body: body.update(required=5)),
        UNUSABLE,
        "is not a schema: 5 is not of type",
    ),
    "required-list": (
        _schema(lambda body: body.update(required=[[]])),
        UNUSABLE,
        "is not a schema: [] is not of type",
    ),
    "anything-as-metadata": (
        _schema(lambda body: body["properties"].update(metadata=True)),
        UNUSABLE,
        "accepts every field of `metadata`",
    ),
    "circle": (
        _schema(
            lambda body: body.update(
                properties={**body["properties"], "spec": {"$ref": "#/definitions/a"}},
                definitions={"a": {"$ref": "#/definitions/a"}},
            )
        ),
        UNUSABLE,
        "refers in a circle",
    ),
    "bad-keyword": (
        _schema(
            lambda body: body["properties"].update(
                spec={
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {"a": {"type": "nonsense"}},
                }
            )
        ),
        UNUSABLE,
        "is not a schema",
    ),
    "large": (_set(TRAINJOB, b" " * 50_000_000), UNUSABLE, "larger than 1 MiB"),
    "large-together": (
        _many(50, b" " * 1_000_000),
        UNUSABLE,
        "more than 8 MiB",
    ),
    "many": (
        _many(300, b"{}"),
        UNUSABLE,
        "more than 200 files",
    ),
    "another-file": (_set("templates/a.yaml.j2", b"x"), UNUSABLE, "is not a file of a release"),
    "link": (_link(TRAINJOB, "/etc/passwd"), UNUSABLE, "is not a regular file"),
    "linked-folder": (_link("schemas", "/etc"), UNUSABLE, "is not a file of a release"),
    "outside": (_extends("'../../../etc'"), "shape/wrong-value", "extends"),
    "unknown-base": (_extends("nothing"), UNUSABLE, "names no release that can be used"),
    "itself": (_extends("site"), UNUSABLE, "leads back to site"),
    "unknown-feature": (_state("features: [a]"), "shape/duplicate-key", "features"),
    "bomb": (
        _set("release.yaml", b"a: &a [x, x]\nb: &b [*a, *a]\nextends: *b\n"),
        "shape/anchor-or-alias",
        "anchor",
    ),
    "no-mapping": (_set("release.yaml", b"- a\n"), "shape/not-a-mapping", "a list"),
    "code": (_state("templates: [a]"), "shape/unknown-key", "templates"),
    "exempt-account": (_state("controllers: [a]"), "shape/unknown-key", "controllers"),
    "no-version": (
        lambda: edit(FOLDER / "release.yaml", '"2.1.0"', '"two"'),
        "shape/wrong-value",
        "numbers with dots",
    ),
    "plurals": (_set("plurals.yaml", b"A: [b]\n"), UNUSABLE, "has no plural for A"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_folder_is_refused_though_its_digest_is_right(
    site: Path,
    trainyard: Call,  # noqa: F811
    name: str,
) -> None:
    profile = next((site / "profiles/clusters").glob("*.yaml"))
    edit(profile, f"release: {NEW}", "release: site")
    change, rule, text = HOSTILE[name]
    change()
    seal()
    refused(trainyard("validate"), rule, text)


def test_another_digest_is_refused_with_the_one_to_write(
    site: Path,
    trainyard: Call,  # noqa: F811
) -> None:
    with (site / FOLDER / "release.yaml").open("a") as file:
        file.write("# more\n")
    ended = trainyard("validate")
    refused(ended, "release/changed-release", "states sha256:")
    (shown,) = re.findall(r"has the digest (sha256:\w+)", ended.out)
    seal()
    assert shown in SETTINGS.read_text("utf-8")
    assert trainyard("validate").code == 0
    edit(SETTINGS, shown, f"sha256:{'0' * 64}")
    refused(trainyard("validate"), "release/changed-release", "states sha256:0000")


@pytest.mark.usefixtures("site")
def test_folder_without_a_digest_is_refused(trainyard: Call) -> None:  # noqa: F811
    text = SETTINGS.read_text("utf-8")
    SETTINGS.write_text(text[: text.index("releases:")], "utf-8")
    refused(trainyard("validate"), "release/changed-release", "no digest is stated for it")


def test_name_of_a_shipped_release_is_taken(site: Path, trainyard: Call) -> None:  # noqa: F811
    """The shipped one stays in use for nobody: the folder must go."""
    (site / FOLDER).rename(site / "profiles/releases" / OLD)
    edit(SETTINGS, "  site: ", f"  {OLD}: ")
    ended = trainyard("validate")
    refused(ended, UNUSABLE, "Trainyard has a release of this name")
    ended = trainyard("release", "new", NEW, "--from", OLD, "--set", "jobset=0.11.1")
    assert ended.code == 1


@pytest.mark.parametrize("name", ["Site", "a/b", "..", "1a", "x" * 41, "a_b"])
def test_bad_name_is_refused(platform: Path, trainyard: Call, name: str) -> None:  # noqa: F811
    ended = trainyard("release", "new", name, "--from", NEW, "--set", "jobset=0.12.1")
    assert ended.code == 1, ended
    assert "names/bad-file-name" in ended.out
    assert not (platform / "profiles/releases").exists()


def _no_status(kind: str) -> dict[str, Any]:
    crd = crd_of(OLD, kind)
    crd["spec"]["versions"][0]["served"] = False
    return crd


def _changed(kind: str, change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    crd = crd_of(OLD, kind)
    change(crd["spec"])
    return crd


REFUSED_FACTS: dict[str, tuple[dict[str, Any], str]] = {
    "not-served": (
        {"Cohort": _changed("Cohort", lambda spec: spec["versions"][0].update(served=False))},
        "does not serve this version",
    ),
    "older-only": (
        {"Cohort": _changed("Cohort", lambda spec: spec["versions"][0].update(name="v1beta1"))},
        "it has 'v1beta1'",
    ),
    "half-a-group": ({"Cohort": None}, "has CRDs of kueue.x-k8s.io, and none of its Cohort"),
    "older-crd": (
        {
            "Cohort": {
                "apiVersion": "apiextensions.k8s.io/v1beta1",
                "kind": "CustomResourceDefinition",
            }
        },
        "has a CustomResourceDefinition of 'apiextensions.k8s.io/v1beta1'",
    ),
    "empty-schema": (
        {
            "TrainJob": _changed(
                "TrainJob",
                lambda spec: spec["versions"][0].update(schema={"openAPIV3Schema": {}}),
            )
        },
        "has another form",
    ),
    "no-schema": (
        {"TrainJob": _changed("TrainJob", lambda spec: spec["versions"][0].pop("schema"))},
        "has another form",
    ),
    "open-schema": (
        {
            "TrainJob": _changed(
                "TrainJob",
                lambda spec: spec["versions"][0]["schema"]["openAPIV3Schema"]["properties"].update(
                    spec={"x-kubernetes-preserve-unknown-fields": True, "type": "object"}
                ),
            )
        },
        "accepts every field of `spec`",
    ),
    "unknown-keyword": (
        {
            "TrainJob": _changed(
                "TrainJob",
                lambda spec: spec["versions"][0]["schema"]["openAPIV3Schema"]["properties"].update(
                    spec={"type": "object", "not": {}}
                ),
            )
        },
        "TrainJob in trainer.kubeflow.org/v1alpha1: cannot derive",
    ),
}


@pytest.mark.parametrize("name", REFUSED_FACTS)
def test_hostile_facts_are_refused(platform: Path, trainyard: Call, name: str) -> None:  # noqa: F811
    """Nothing is written, and the message names what is wrong."""
    changes, text = REFUSED_FACTS[name]
    dump = write_dump(platform / "crds.json", OLD, changes)
    before = SETTINGS.read_bytes()
    ended = trainyard("release", "new", "site", "--from", NEW, "--facts", str(dump), *VERSIONS)
    assert ended.code in {4, 5}, ended
    assert text in ended.err
    assert SETTINGS.read_bytes() == before
    assert not (platform / "profiles/releases").exists()


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "is empty"),
        (b"{", "is not JSON"),
        (DEEP, "is not JSON"),
        (b'{"kind": "List", "items": []}', "has no CustomResourceDefinition"),
        (b"a: &a [x]\nb: *a\n", "not a Kubernetes object"),
        (b"\xff", "not UTF-8"),
        (b"{" + b" " * 70_000_000, "is larger than"),
    ],
    ids=["empty", "cut", "deep", "no-items", "other", "no-text", "70-mb"],
)
def test_file_that_is_no_dump_is_refused(
    platform: Path,
    trainyard: Call,  # noqa: F811
    content: bytes,
    text: str,
) -> None:
    (platform / "crds.json").write_bytes(content)
    ended = trainyard("release", "new", "site", "--from", NEW, "--facts", "crds.json")
    assert ended.code == 5, ended
    assert text in ended.err
    assert not (platform / "profiles/releases").exists()


def test_versions_that_the_schemas_contradict_are_refused(
    platform: Path,
    trainyard: Call,  # noqa: F811
) -> None:
    dump = write_dump(platform / "crds.json", OLD)
    ended = trainyard("release", "new", "site", "--from", NEW, "--facts", str(dump))
    assert ended.code == 5
    assert "the CRD of TrainJob has no `spec.runtimePatches`" in ended.err


def test_limit_that_no_release_may_state_is_refused(
    platform: Path,
    trainyard: Call,  # noqa: F811
) -> None:
    """What is written is what the loader takes."""
    lists = {"type": "array", "maxItems": 0, "items": {"type": "object"}}
    status = {"type": "object", "properties": {"flavorsUsage": lists}}
    crd = _changed(
        "LocalQueue",
        lambda spec: spec["versions"][0]["schema"]["openAPIV3Schema"]["properties"].update(
            status=status
        ),
    )
    dump = write_dump(platform / "crds.json", OLD, {"LocalQueue": crd})
    ended = trainyard("release", "new", "site", "--from", NEW, "--facts", str(dump), *VERSIONS)
    assert ended.code == 1, ended
    assert "error[shape/" in ended.out
    assert not (platform / "profiles/releases").exists()


def test_versions_that_fail_together_are_refused(platform: Path, trainyard: Call) -> None:  # noqa: F811
    dump = write_dump(platform / "crds.json", NEW)
    fixed = ("release", "new", "site", "--from", NEW, "--facts", str(dump))
    ended = trainyard(*fixed, "--set", "jobset=0.9.0")
    refused(ended, UNUSABLE, "jobset 0.9.0 with trainer 2.3")
    assert not (platform / "profiles/releases").exists()


def test_version_below_all_that_is_written_is_refused_before_it_is_looked_up(
    platform: Path,
    trainyard: Call,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without Go, so nothing can have been downloaded; hidden files of editors are no matter."""
    monkeypatch.setenv("PATH", os.devnull)
    os.mkfifo(platform / "profiles/.pipe")
    ended = trainyard("release", "new", "site", "--from", NEW, "--set", "kueue=0.14.5")
    refused(ended, UNUSABLE, "kueue 0.14.5: Kueue before 0.15 has no v1beta2")
    assert trainyard("release", "new", "site", "--from", NEW, "--set", "jobset=0.12.1").code == 0


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--from", NEW), "name what differs"),
        (("--from", NEW, "--set", "kueue"), "is not COMPONENT=VERSION"),
        (("--from", NEW, "--set", "kueue=latest"), "is not COMPONENT=VERSION"),
        (("--from", NEW, "--set", "kueu=0.19.2"), "has no component `kueu`"),
        (("--from", "kubernetes-1.9", "--set", "kueue=0.19.2"), "there is no release"),
    ],
)
@pytest.mark.usefixtures("platform")
def test_wrong_use(
    trainyard: Call,  # noqa: F811
    arguments: tuple[str, ...],
    text: str,
) -> None:
    ended = trainyard("release", "new", "site", *arguments)
    assert ended.code == 2, ended
    assert text in ended.err


def test_kind_that_the_cluster_lacks_is_inherited_and_named(
    platform: Path,
    trainyard: Call,  # noqa: F811
) -> None:
    """No CRD of its group is there, so its operator is not installed."""
    dump = write_dump(platform / "crds.json", OLD, {"ExternalSecret": None})
    ended = trainyard("release", "new", "site", "--from", NEW, "--facts", str(dump), *VERSIONS)
    assert ended.code == 0, ended
    wanted = "note: the cluster has no ExternalSecret.external-secrets.io: schemas as in"
    assert wanted in ended.out


def test_works_without_go(platform: Path, trainyard: Call, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """A dump needs no program; versions with modules say what they need."""
    monkeypatch.setenv("PATH", os.devnull)
    dump = write_dump(platform / "crds.json", OLD)
    fixed = ("release", "new", "site", "--from", NEW)
    ended = trainyard(*fixed, "--set", "kueue=0.19.1")
    assert ended.code == 4, ended
    assert "needs the Go tool" in ended.err
    assert trainyard(*fixed, "--facts", str(dump), *VERSIONS).code == 0


def test_shipped_releases_were_rehearsed_or_fit_their_schemas() -> None:
    """A new one fits its schemas, until `make e2e RELEASES=all` has run it."""
    assert {source.value["tested"] for source in releases().values()} <= {"rehearsed", "schemas"}
