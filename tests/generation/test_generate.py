"""The order of the stages: where they stop, what they report together, and their inputs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.bench.platform import write_platform
from trainyard.diagnostics import Pointer, has_errors
from trainyard.generation import objects
from trainyard.generation.generate import check, generate
from trainyard.generation.objects import check_object, check_tree, check_unlisted
from trainyard.render.site import render_site
from trainyard.rules.release.invalid_manifest import RULE as INVALID_MANIFEST

REPOSITORY = Path(__file__).resolve().parents[2]
COMPONENTS = "../profiles/components"
COMPONENT = "components/simulation-defaults"


def change(profiles: Path, file: str, old: str, new: str) -> None:
    """Replace text in a profile; it must be there."""
    path = profiles / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def unreadable(profiles: Path) -> None:
    (profiles / "notes.txt").touch()


def misshapen(profiles: Path) -> None:
    change(profiles, "teams/nlp.yaml", "runtimes: [openmpi-cuda, ", "runtime: [openmpi-cuda, ")


def unresolved(profiles: Path) -> None:
    change(profiles, "teams/science.yaml", "cohort: research", "cohort: reserch")


def meaningless(profiles: Path) -> None:
    change(profiles, "allocations.yaml", '"0x0102"', '"0x0101"')


def unfit(profiles: Path) -> None:
    change(profiles, f"{COMPONENT}/simulation-defaults.yaml", "\ndata:", "\ndta:")


FAULTS = (
    (unreadable, {"shape/misplaced-file"}),
    (misshapen, {"shape/unknown-key", "shape/missing-key"}),
    (unresolved, {"references/unknown-name"}),
    (meaningless, {"fabric/partition-given-twice"}),
    (unfit, {INVALID_MANIFEST.id}),
)
"""A fault for each stage, in the order of the stages; what tells of it."""


@pytest.mark.parametrize("first", range(len(FAULTS)))
def test_profiles_are_checked_in_one_run_and_objects_only_without_errors(
    first: int, profiles: Path
) -> None:
    """With faults of a stage and all later ones, all but those of rendered objects are reported."""
    for break_it, _ in FAULTS[first:]:
        break_it(profiles)
    generation = generate(profiles, COMPONENTS)
    errors = {each.rule for each in generation.diagnostics if has_errors([each])}
    expected = {rule for _, rules in FAULTS[first:4] for rule in rules} or FAULTS[4][1]

    assert errors == expected
    assert (generation.checked.platform is None) is (first <= 2)
    assert bool(generation.files) is (first == 4)


@pytest.mark.parametrize("fault", range(3))
def test_check_stops_without_a_platform(fault: int, profiles: Path) -> None:
    """A fault of reading, shape or names leaves no platform; the sources stay for the report."""
    FAULTS[fault][0](profiles)
    checked = check(profiles)

    assert checked.platform is None
    assert has_errors(checked.diagnostics)
    assert checked.profiles.teams.keys() == {
        "biology",
        "medical",
        "nlp",
        "robotics",
        "science",
        "speech",
        "vision",
    }


def test_check_and_generate_tell_the_same_of_good_profiles(profiles: Path) -> None:
    """Rendering adds no finding to profiles that are right, and each site has its objects."""
    checked, generation = check(profiles), generate(profiles, COMPONENTS)

    assert checked.diagnostics == generation.diagnostics == ()
    assert generation.manifests.keys() == {"lab", "prod-east"}
    assert {path.partition("/")[0] for path in generation.files} == {"lab", "prod-east"}


def test_object_of_a_component_is_reported_at_its_own_line(profiles: Path) -> None:
    """The key is the place, once for all clusters and teams; the hint is to correct it there."""
    unfit(profiles)
    generation = generate(profiles, COMPONENTS)
    (fault,) = generation.diagnostics
    mark = generation.checked.profiles.sources()[fault.at.file].mark(fault.at)

    assert fault.rule == INVALID_MANIFEST.id
    assert fault.at == Pointer(
        f"profiles/{COMPONENT}/simulation-defaults.yaml", (0, "dta"), on_key=True
    )
    assert (mark.line, mark.column, mark.end_column) == (7, 1, 4)
    said = "unknown field `dta`: did you mean `data`?"
    assert fault.message == f"ConfigMap `simulation-defaults`: {said}"
    assert "Correct the field in this file" in fault.hint


def test_finding_about_a_later_document_is_reported_there(profiles: Path) -> None:
    """A file may hold several objects; empty documents count for nothing."""
    file = profiles / COMPONENT / "simulation-defaults.yaml"
    second = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: more\n  namespace: team-nlp\n"
    file.write_text(f"{file.read_text(encoding='utf-8')}---\n---\n{second}", encoding="utf-8")
    generation = generate(profiles, COMPONENTS)
    found = {each.rule: each.at for each in generation.diagnostics}
    at = found["delivery/component-in-foreign-namespace"]

    assert at == Pointer(
        f"profiles/{COMPONENT}/simulation-defaults.yaml", (1, "metadata", "namespace")
    )
    assert generation.checked.profiles.sources()[at.file].mark(at).line == 18


def test_name_that_a_component_uses_is_reported_at_the_field(profiles: Path) -> None:
    """A name that nothing defines has its caret."""
    file = profiles / COMPONENT / "simulation-defaults.yaml"
    secret = (
        "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: x, namespace: "
        "team-science}\nspec:\n  secretStoreRef: {kind: ClusterSecretStore, name: vault}\n  "
        "data:\n    - secretKey: x\n      remoteRef: {key: ml/teams/science/x}\n      sourceRef: "
        "{storeRef: {kind: SecretStore, name: nowhere}}\n"
    )
    file.write_text(secret, encoding="utf-8")
    generation = generate(profiles, COMPONENTS)
    places = {
        each.at for each in generation.diagnostics if each.rule == "references/undefined-name"
    }
    (at,) = places

    assert at.path == (0, "spec", "data", 0, "sourceRef", "storeRef", "name")
    assert generation.checked.profiles.sources()[at.file].mark(at).line == 9


def test_component_that_no_team_lists_is_checked_too(profiles: Path) -> None:
    """Who lists it later should not be the one who finds out; some release in use must take its
    objects."""
    unfit(profiles)
    change(profiles, "teams/science.yaml", "components: [simulation-defaults]\n", "")
    found = {each.rule: each.at for each in generate(profiles, COMPONENTS).diagnostics}

    assert found["delivery/unlisted-component"].file == f"profiles/{COMPONENT}/kustomization.yaml"
    assert found[INVALID_MANIFEST.id] == Pointer(
        f"profiles/{COMPONENT}/simulation-defaults.yaml", (0, "dta"), on_key=True
    )


def test_unlisted_component_is_compared_with_every_release_in_use(
    profiles: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An object that one release takes may be meant for its clusters."""
    unfit(profiles)
    change(profiles, "teams/science.yaml", "components: [simulation-defaults]\n", "")
    platform = check(profiles).platform
    assert platform is not None
    assert len({site.cluster.release.name for site in platform.sites}) == 2

    assert [each.rule for each in check_unlisted(platform)] == [INVALID_MANIFEST.id]
    assert list(check_unlisted(replace(platform, sites=()))) == []
    taken = {"openshift-ai-3.5": [], "kubernetes-1.36": [((), "odd")]}
    monkeypatch.setattr(objects, "check_manifest", lambda schemas, *_: taken[schemas.base])
    assert list(check_unlisted(platform)) == []


def test_fault_in_an_object_of_ours_is_not_the_users(profiles: Path) -> None:
    platform = check(profiles).platform
    assert platform is not None
    site = platform.sites[0]
    manifest = next(each for each in render_site(site) if each.body["kind"] == "Namespace")
    (found,) = check_object(site, replace(manifest, body={**manifest.body, "one": 1}))

    assert found.at == manifest.at
    assert found.message == f"{manifest.path}: unknown field `one`"
    assert "fault of Trainyard and not of the profile" in found.hint


def test_every_fault_of_an_object_is_reported(profiles: Path) -> None:
    """One run reports all unknown fields of an object, at the profile that it was made from."""
    platform = check(profiles).platform
    assert platform is not None
    site = platform.sites[0]
    manifest = next(each for each in render_site(site) if each.body["kind"] == "Namespace")
    manifest.body["one"], manifest.body["two"] = 1, 2
    found = list(check_object(site, manifest))

    assert [each.message.rpartition(" ")[2] for each in found] == ["`one`", "`two`"]
    assert {each.at for each in found} == {manifest.at}


def test_name_in_an_object_must_lead_somewhere(profiles: Path) -> None:
    """References between objects are checked beside their schemas."""
    platform = check(profiles).platform
    assert platform is not None
    site = platform.sites[0]
    manifests = render_site(site)
    lost = tuple(each for each in manifests if each.body["kind"] != "ResourceFlavor")

    assert list(check_tree(site, manifests)) == []
    assert {each.rule for each in check_tree(site, lost)} == {"references/undefined-name"}


@pytest.fixture(scope="module")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Profiles of three clusters."""
    root = tmp_path_factory.mktemp("clusters") / "profiles"
    write_platform(root, REPOSITORY, teams=3, clusters=3)
    return root


@pytest.mark.parametrize(
    "wanted",
    [
        ("cluster-1",),
        ("cluster-2", "cluster-0"),
        ("cluster-0", "cluster-1", "cluster-2"),
        ("elsewhere",),
    ],
)
def test_only_wanted_clusters_are_generated(wanted: tuple[str, ...], clusters: Path) -> None:
    """The others are left out, and no byte of those that are wanted differs from a run over all."""
    everything = generate(clusters, COMPONENTS).files
    known = {"cluster-0", "cluster-1", "cluster-2"} & set(wanted)
    expected = {
        path: content for path, content in everything.items() if path.partition("/")[0] in known
    }
    generation = generate(clusters, COMPONENTS, wanted)

    assert generation.files == expected
    assert generation.manifests.keys() == known
    assert {path.partition("/")[0] for path in everything} == {
        "cluster-0",
        "cluster-1",
        "cluster-2",
    }


def test_profiles_of_clusters_that_are_not_wanted_are_checked(
    clusters: Path, tmp_path: Path
) -> None:
    """A fault in another cluster's team stops the run: profiles are right together or not at
    all."""
    root = tmp_path / "profiles"
    write_platform(root, REPOSITORY, teams=3, clusters=3)
    change(root, "teams/team-0002.yaml", "cohort: research", "cohort: reserch")

    assert generate(root, COMPONENTS, ["cluster-0"]).files == {}
    assert generate(clusters, COMPONENTS, ["cluster-0"]).files != {}


@pytest.mark.parametrize("today", ["1970-01-01", "2027-03-30", "2027-03-31"])
def test_day_changes_no_byte(today: str, profiles: Path) -> None:
    """The tree of every day up to the first end, of a waiver or a runtime, is the tree without a
    day."""
    generation = generate(profiles, COMPONENTS, today=today)

    assert generation.diagnostics == ()
    assert generation.files == generate(profiles, COMPONENTS).files


def test_day_after_an_end_stops_the_run(profiles: Path) -> None:
    """A debugger's role, a runtime or a waiver that has ended is an error of `generate` and of
    `check`."""
    generation = generate(profiles, COMPONENTS, today="2027-04-01")

    assert [each.rule for each in generation.diagnostics] == [
        "access/debugger-expired",
        "access/debugger-expired",
        "change/ended-runtime",
        "change/expired-waiver",
    ]
    assert check(profiles, "2027-04-01").diagnostics == generation.diagnostics
    assert generation.files == {}
