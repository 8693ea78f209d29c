"""Verification of a committed tree: with the real tools where they agree, with false ones where
they must not."""

from __future__ import annotations

import inspect
import json
import os
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.verify.programs import program
from trainyard.diagnostics import Diagnostic, Pointer, Step, ToolError, TreeError
from trainyard.generation.generate import Target, generate
from trainyard.programs import Completed
from trainyard.tree.write import write
from trainyard.verify import kubeconform, kustomize, tools
from trainyard.verify.kubeconform import Finding, Report
from trainyard.verify.kustomize import Refusal
from trainyard.verify.tools import Tool
from trainyard.workflows import placement
from trainyard.workflows import verify as verification
from trainyard.workflows.verify import Scope, Verification, verify

pytestmark = pytest.mark.thorough

COMPONENTS = "../profiles/components"
COMPONENT = "profiles/components/simulation-defaults"


@pytest.fixture
def target(profiles: Path) -> Path:
    """The tree of this repository's profiles."""
    folder = profiles.parent / "overlays"
    write(folder, generate(profiles, COMPONENTS).files)
    return folder


def _verify(profiles: Path, target: Path) -> Verification:
    return verify(Target(profiles, target, COMPONENTS))


def _verify_east(profiles: Path, target: Path) -> Verification:
    """Verify one cluster, where a test counts what happens to each."""
    return verify(Target(profiles, target, COMPONENTS), scope=Scope(("prod-east",)))


def _errors(verified: Verification) -> list[Diagnostic]:
    return [each for each in verified.diagnostics if each.severity == "error"]


@pytest.mark.thorough
def test_real_tools_count_the_same(profiles: Path, target: Path) -> None:
    """Listed, valid, built and valid again: one number on each cluster, and nothing skipped."""
    verified = _verify(profiles, target)
    lab, east = verified.counts

    assert _errors(verified) == []
    assert (lab.cluster, lab.units, lab.units_built, lab.samples, lab.artifacts) == (
        "lab",
        9,
        9,
        32,
        7,
    )
    assert (east.cluster, east.units, east.units_built, east.samples, east.artifacts) == (
        "prod-east",
        6,
        6,
        21,
        4,
    )
    for count in verified.counts:
        files = sum(path.startswith(f"{count.cluster}/") for path in verified.generation.files)
        assert (
            count.objects
            == count.valid
            == count.built
            == count.conform
            == sum(count.by_unit.values())
        )
        assert count.skipped == 0
        assert (
            count.objects + count.samples + count.artifacts + count.others == files + 1
        )  # the component's object


def test_only_the_wanted_cluster_is_verified(profiles: Path, target: Path) -> None:
    """Faults of the other cluster do not matter."""
    east = profiles / "clusters" / "prod-east.yaml"
    (profiles / "clusters" / "prod-west.yaml").write_bytes(east.read_bytes())
    write(target, generate(profiles, COMPONENTS).files)
    (target / "prod-east" / "README.md").unlink()
    verified = verify(Target(profiles, target, COMPONENTS), scope=Scope(("prod-west",)))

    assert _errors(verified) == []
    assert [count.cluster for count in verified.counts] == ["prod-west"]


@pytest.mark.parametrize(
    "pattern", ["teams/nlp/localqueue-gpu.yaml", "trainyard.lock", "platform/kustomization.yaml"]
)
def test_stale_tree_is_not_looked_into(pattern: str, profiles: Path, target: Path) -> None:
    """A stale tree is reported as stale, without any other fault."""
    file = target / "prod-east" / pattern
    file.write_text(file.read_text() + "\n")
    verified = _verify(profiles, target)

    assert [each.rule for each in _errors(verified)] == ["delivery/tree-is-stale"]
    assert verified.counts == ()


def test_unit_that_does_not_build_is_shown_at_its_team(
    profiles: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kustomize's message is at the unit's profile, and the other units are still checked."""
    build = kustomize.build

    def refuse(tool: Tool, folder: Path) -> str | Refusal:
        return Refusal("no such thing") if folder.name == "nlp" else build(tool, folder)

    monkeypatch.setattr(verification, "build", refuse)
    verified = _verify_east(profiles, target)
    (found,) = _errors(verified)

    assert (found.rule, found.at.file) == (
        "delivery/unit-does-not-build",
        "profiles/teams/nlp.yaml",
    )
    assert found.message == "teams/nlp: no such thing"
    assert verified.counts[0].units_built == 5
    assert verified.counts[0].built == verified.counts[0].conform < verified.counts[0].objects


@pytest.mark.parametrize(
    ("words", "at"),
    [
        (
            "already registered id: ConfigMap.v1.[noGrp]/simulation-defaults.team-science'",
            Pointer(f"{COMPONENT}/simulation-defaults.yaml", (0,)),
        ),
        (
            f"path '/r/{COMPONENT}/simulation-defaults.yaml': odd",
            Pointer(f"{COMPONENT}/simulation-defaults.yaml"),
        ),
        (f"accumulation of path '/r/{COMPONENT}': odd", Pointer(f"{COMPONENT}/kustomization.yaml")),
    ],
)
def test_component_that_kustomize_names_is_the_place(
    words: str, at: Pointer, profiles: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words are kustomize v5's own: an object by its id, a file, a folder."""
    build = kustomize.build

    def refuse(tool: Tool, folder: Path) -> str | Refusal:
        return Refusal(words) if folder.name == "science" else build(tool, folder)

    monkeypatch.setattr(verification, "build", refuse)
    (found,) = _errors(_verify_east(profiles, target))

    assert found.at == at


def test_finding_of_kubeconform_is_shown_at_the_profile(
    profiles: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An object, a sample and something unknown are each at the profile that they come from."""
    monkeypatch.setattr(
        verification,
        "validate",
        lambda *_: Report(
            valid=148,
            invalid=(
                Finding(
                    "teams/nlp", "LocalQueue", "gpu", "kueue.x-k8s.io/v1beta2", "/spec", "is odd"
                ),
                Finding(
                    "samples/vision/openmpi-cuda.yaml",
                    "TrainJob",
                    "vision-openmpi-cuda",
                    "v1",
                    "",
                    "odd",
                ),
                Finding(
                    "teams/science",
                    "ConfigMap",
                    "simulation-defaults",
                    "v1",
                    "/data/solver.ini/0",
                    "is odd",
                ),
            ),
            errors=(Finding("platform", "", "", "", "", "no YAML"),),
            skipped=0,
            total=152,
        ),
    )
    verified = _verify_east(profiles, target)

    assert sorted((each.at.file, each.at.path, each.message) for each in _errors(verified)) == [
        ("profiles/clusters/prod-east.yaml", (), "platform:  : no YAML"),
        (
            "profiles/components/simulation-defaults/simulation-defaults.yaml",
            (0, "data", "solver.ini"),
            "ConfigMap `simulation-defaults`: data.solver.ini.0: is odd",
        ),
        ("profiles/teams/nlp.yaml", (), "teams/nlp/localqueue-gpu.yaml: spec: is odd"),
        ("profiles/teams/vision.yaml", (), "samples/vision/openmpi-cuda.yaml: odd"),
    ]
    assert verified.counts[0].conform == 148 - 20 - 4  # samples but the one refused, and artifacts


@pytest.mark.parametrize(("lost", "skipped"), [(1, 0), (0, 1)])
def test_object_that_nobody_looked_at_is_an_error(
    lost: int, skipped: int, profiles: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A validator that passes over an object, in silence or not, proves nothing."""
    validate = kubeconform.validate

    def lose(tool: Tool, streams: dict[str, str], schemas: str, own: dict[str, bytes]) -> Report:
        report = validate(tool, streams, schemas, own)
        return Report(report.valid - lost - skipped, (), (), skipped, report.total - lost)

    monkeypatch.setattr(verification, "validate", lose)
    (found,) = _errors(_verify_east(profiles, target))

    assert (found.rule, found.at.file) == (
        "delivery/objects-lost",
        "profiles/clusters/prod-east.yaml",
    )
    assert f"which skipped {skipped}" in found.message


def test_object_that_kustomize_drops_is_an_error(
    profiles: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A listed object that is not built would never reach the cluster."""
    build = kustomize.build

    def drop(tool: Tool, folder: Path) -> str | Refusal:
        output = build(tool, folder)
        assert isinstance(output, str)
        return output.partition("\n---\n")[2] if folder.name == "nlp" else output

    monkeypatch.setattr(verification, "build", drop)
    (found,) = _errors(_verify_east(profiles, target))

    assert found.rule == "delivery/objects-lost"


_DASHBOARDS = ("job", "platform", "team")


def test_kubeconform_runs_once(
    profiles: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One process checks all units and samples of a cluster: it is what makes verification
    quick."""
    calls: list[list[str]] = []
    validate = kubeconform.validate

    def count(tool: Tool, streams: dict[str, str], schemas: str, own: dict[str, bytes]) -> Report:
        calls.append(sorted(streams))
        return validate(tool, streams, schemas, own)

    monkeypatch.setattr(verification, "validate", count)
    _verify_east(profiles, target)

    (streams,) = calls
    assert [each for each in streams if not each.startswith("samples/")] == [
        "argocd",
        "nodes",
        "operators/clusterlogforwarder-trainyard-teams.yaml",
        *(f"operators/configmap-trainyard-dashboard-{each}.yaml" for each in _DASHBOARDS),
        "platform",
        "teams/nlp",
        "teams/science",
        "teams/vision",
    ]
    assert len(streams) == 6 + 21 + 4


def test_tool_that_lies_about_its_version_stops_everything(
    profiles: Path, target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is verified with a tool whose behaviour is not known."""
    fake = program(tmp_path / "bin", "kubeconform", f"echo {json.dumps('v0.6.0')}")
    monkeypatch.setenv("TRAINYARD_KUBECONFORM", str(fake))

    with pytest.raises(ToolError, match=r"v0\.6\.0"):
        _verify(profiles, target)


def test_broken_profiles_are_reported_before_the_tree(profiles: Path, target: Path) -> None:
    """Without a platform there is nothing to compare the tree with."""
    (profiles / "trainyard.yaml").unlink()
    verified = _verify(profiles, target)

    assert [each.rule for each in verified.diagnostics] == ["shape/no-settings"]
    assert verified.counts == ()


def _fake(
    folder: Path, name: str, version: str, script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Have a tool of the right version do something else when it is asked for more than its
    version."""
    asked = {"kustomize": "version", "kubeconform": "-v"}[name]
    path = program(folder / "bin", name, f'[ "$1" = {asked} ] && exec echo {version}\n{script}')
    monkeypatch.setenv(f"TRAINYARD_{name.upper()}", str(path))


@pytest.mark.parametrize(
    ("printed", "message"),
    [
        (r"\377", "not UTF-8"),
        ("a: [", "kustomize printed something else than Kubernetes objects for "),
        ("- kind: ConfigMap\n", "kustomize printed something else than Kubernetes objects for "),
        ("metadata: {name: x}\n", "kustomize printed something else than Kubernetes objects for "),
    ],
)
def test_kustomize_that_prints_garbage_is_a_broken_tool(
    printed: str, message: str, profiles: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it prints is not taken for a bug of ours, and not handed on."""
    _fake(profiles.parent, "kustomize", "v5.8.1", f"printf -- '{printed}'", monkeypatch)

    with pytest.raises(ToolError, match=message):
        _verify_east(profiles, target)


@pytest.mark.parametrize(
    "resource",
    [
        {"kind": ["x"], "name": "x", "version": "v1"},
        {"kind": "x", "name": {}, "version": "v1"},
        {"kind": "x", "name": "x", "version": None},
        {},
        3,
    ],
)
def test_kubeconform_that_prints_garbage_is_a_broken_tool(
    resource: object, profiles: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A finding without an object is not a finding."""
    found = {"filename": "000000.yaml", "status": "statusInvalid", "msg": "odd"}
    report = {
        "resources": [{**found, **resource} if isinstance(resource, dict) else resource],
        "summary": {"valid": 0, "invalid": 1, "errors": 0, "skipped": 0},
    }
    _fake(
        profiles.parent,
        "kubeconform",
        "v0.7.0",
        f"echo '{json.dumps(report)}'; exit 1",
        monkeypatch,
    )

    with pytest.raises(ToolError, match="kubeconform printed no report that can be read"):
        _verify_east(profiles, target)


@pytest.mark.thorough
def test_build_that_hangs_ends_all(
    profiles: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first build that takes too long ends those beside it, and those that wait are not
    begun."""
    _fake(
        profiles.parent,
        "kustomize",
        "v5.8.1",
        f"echo x >>{profiles.parent}/begun; sleep 60",
        monkeypatch,
    )
    monkeypatch.setattr(verification, "build", partial(kustomize.build, timeout=1.0))
    begun = time.monotonic()

    with pytest.raises(ToolError, match="`kustomize build` did not end in time and was stopped"):
        verify(Target(profiles, target, COMPONENTS))
    assert time.monotonic() - begun < 30
    assert len((profiles.parent / "begun").read_text().split()) <= 2 * (os.cpu_count() or 1)


@pytest.mark.thorough
def test_kubeconform_that_hangs_is_stopped(
    profiles: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The objects of one cluster are checked in a time that grows with them, and no longer."""
    _fake(profiles.parent, "kubeconform", "v0.7.0", "sleep 60", monkeypatch)
    monkeypatch.setattr(verification, "validate", partial(kubeconform.validate, timeout=0.5))

    with pytest.raises(ToolError, match="`kubeconform` did not end in time and was stopped"):
        _verify_east(profiles, target)


def test_hanging_tools_cost_less_than_a_minute() -> None:
    """Two tools print their versions slowly and one hangs, in a repository like this one."""
    work = [
        inspect.signature(each).parameters["timeout"].default
        for each in (kustomize.build, kubeconform.validate)
    ]
    megabyte = 1_000_000 / kubeconform.CHARACTERS

    assert 2 * tools.VERSION_TIMEOUT + max(work[0], work[1] + megabyte) < 60


def test_large_unit_gets_more_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kustomize's time grows with the square of the files, and so does its limit."""
    given: list[float] = []

    def answer(*_: object, timeout: float, **__: object) -> Completed:
        given.append(timeout)
        return Completed(0, "", "")

    monkeypatch.setattr(kustomize, "run", answer)
    for number in range(3000):
        (tmp_path / f"{number}.yaml").touch()
    kustomize.build(Tool("kustomize", tmp_path / "kustomize", "v5.8.1"), tmp_path)

    assert given == [9 * 40.0]


def test_tree_that_changes_meanwhile_is_reported(
    profiles: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    def edited(*_: object) -> Iterator[Diagnostic]:
        (target / "prod-east" / "README.md").write_text("x")
        yield from ()

    monkeypatch.setattr(verification, "check_memory_since", edited)
    with pytest.raises(
        TreeError, match=r"README\.md was changed while it was verified; verify again"
    ):
        _verify_east(profiles, target)


@pytest.mark.parametrize(
    ("pointer", "steps"),
    [
        ("", ()),
        ("/a/1/b~1c~0", ("a", 1, "b/c~")),
        ("/a/7/b", ("a",)),
        ("/a/x", ("a",)),
        ("/a/0/b", ("a", 0)),
    ],
)
def test_json_pointer_leads_as_far_as_the_object_goes(
    pointer: str, steps: tuple[Step, ...]
) -> None:
    """A key may hold a slash, and an index is a number only in a list."""
    assert tuple(placement._steps({"a": [{}, {"b/c~": 1}]}, pointer)) == steps
