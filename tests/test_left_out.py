"""A profile that can't be used hides nothing else, and nothing is concluded from what it would have
said."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from tests.generation.test_generate import change
from tests.resolve.changes import CLUSTER, HARDWARE, NLP, RUNTIME, VISION, together
from tests.resolve.test_references import GONE
from tests.rules.cases import (
    BEFORE,
    TODAY,
    _base,
    _change,
    case_folders,
    faultless,
    read_case,
    rule_of,
)
from trainyard.diagnostics import Diagnostic, has_errors
from trainyard.generation.generate import check, check_loaded, generate
from trainyard.profiles.read import load
from trainyard.rules._check import Check
from trainyard.rules.check import CHECKS
from trainyard.yaml_io.source import Profiles, Source

REPOSITORY = Path(__file__).resolve().parents[1]
OWN = sorted(
    path.relative_to(REPOSITORY).as_posix() for path in (REPOSITORY / "profiles").rglob("*.yaml")
)
UNRELATED = {
    "teams": "teams/zz.yaml",
    "runtimes": "runtimes/zz.yaml",
    "hardware": "hardware/zz.yaml",
    "clusters": "clusters/zz.yaml",
    "compliance": "compliance/zz.yaml",
}
CASES = {rule_of(folder): folder for folder in case_folders() if folder.parent.name != "preflight"}
"""Of the rules about profiles. A preflight compares a cluster with a platform without errors."""
NAMED = (CLUSTER, HARDWARE, RUNTIME, NLP, VISION, "allocations.yaml", "trainyard.yaml")
ABSENT = {
    check.rule.id: check.every for check in CHECKS if isinstance(check, Check) and check.every
}


def pairs(others: Iterable[str], each: int) -> list[tuple[str, str]]:
    """Return each rule with some of the others, in turn: rules of one family meet all of them."""
    turn = cycle(others)
    return [(rule, next(turn)) for rule in sorted(CASES) for _ in range(each)]


def misshapen(profiles: Profiles, file: str) -> Profiles:
    """Return profiles of which one has a key that no profile knows; it is added when it is not
    there."""
    source = profiles.sources().get(f"profiles/{file}") or Source(f"profiles/{file}", b"new", {})
    value = {**source.value, "no_such_key": 1}
    folder, _, name = file.rpartition("/")
    broken = replace(source, content=b"changed", value=value)
    kind, _, component = folder.partition("/")
    fields: dict[str, Any] = {name.removesuffix(".yaml").replace("trainyard", "settings"): broken}
    if kind:
        fields = {
            kind: {**getattr(profiles, kind), component or name.removesuffix(".yaml"): broken}
        }
    return replace(profiles, **fields)


def found(profiles: Profiles) -> tuple[Diagnostic, ...]:
    """Return all that is found of profiles that were read without a finding."""
    return check_loaded(profiles, (), TODAY, faultless()).diagnostics


def places(diagnostics: tuple[Diagnostic, ...]) -> set[tuple[str, str]]:
    """Return rule and file of each finding."""
    return {(each.rule, each.at.file) for each in diagnostics}


def changed(rule: str) -> Profiles:
    """Return the base platform with the mistake of a rule's bad case."""
    changes, _ = read_case(CASES[rule] / "bad.yaml")
    return _change(_base(), {name: each for name, each in changes.items() if name != BEFORE})


@cache
def mistaken(rule: str) -> tuple[Profiles, tuple[Diagnostic, ...]]:
    """Return the base platform with the mistake of a rule's bad case, and all that is found."""
    profiles = changed(rule)
    return profiles, found(profiles)


@pytest.fixture(scope="module")
def flagship() -> Profiles:
    """Return this repository's profiles."""
    profiles, problems = load(REPOSITORY / "profiles")
    assert not problems
    return profiles


@pytest.mark.parametrize(
    "file", [file for file in OWN if file.count("/") < 3 or file.endswith("/kustomization.yaml")]
)
def test_broken_file_causes_no_finding_elsewhere(file: str, flagship: Profiles) -> None:
    """Each profile of this repository in turn: what is left out is neither missed, nor are its
    users called wrong."""
    short = file.removeprefix("profiles/")

    assert {each.at.file for each in found(misshapen(flagship, short))} == {file}


@pytest.mark.thorough
@pytest.mark.parametrize(("rule", "file"), pairs(NAMED, 2))
def test_broken_file_adds_nothing_to_a_mistake(rule: str, file: str) -> None:
    """Beside the mistake of each rule's bad case: what is found in other files was found there
    before."""
    before, known = mistaken(rule)
    if f"profiles/{file}" not in before.sources():
        return
    added = places(found(misshapen(before, file))) - places(known)

    assert {other for _, other in added} == {f"profiles/{file}"}


@pytest.mark.thorough
@pytest.mark.parametrize(("rule", "kind"), pairs(UNRELATED, 1))
def test_broken_file_hides_no_mistake(rule: str, kind: str) -> None:
    """A profile that nobody names hides only what could be different if it were known."""
    before, known = mistaken(rule)
    after = {(each.at, each.message) for each in found(misshapen(before, UNRELATED[kind]))}
    hidden = [each for each in known if (each.at, each.message) not in after]

    assert {each.rule for each in hidden} <= {
        each for each, every in ABSENT.items() if f"{kind}/" in every
    }


@pytest.mark.parametrize(("changes", "place"), GONE)
def test_wrong_name_is_the_only_finding(
    changes: dict[str, Any], place: tuple[str, str, str]
) -> None:
    """Nothing is said of what the name would have led to."""
    told = found(_change(_base(), changes))

    assert {each.at.file.removeprefix("profiles/") for each in told} == {place[0]}
    assert {each.rule for each in told} == {"references/unknown-name"}


@pytest.mark.parametrize(
    "changes",
    [
        {CLUSTER: {"fabrics": {"ib": {"addresses": "10.64.0.1/13"}}}},
        {CLUSTER: {"networks": {"pods": "10.128.0.1/14"}}},
        {CLUSTER: {"egress": {"object-store": {"to": ["203.0.113.1/28"]}}}},
        {"allocations.yaml": {"prod-east": {"ib": {"nlp": {"addresses": "10.64.0.1/20"}}}}},
    ],
)
def test_wrong_address_is_the_only_finding(changes: dict[str, Any]) -> None:
    """Neither is a team outside a range that can't be read, nor does an egress rule lead
    nowhere."""
    assert {each.rule for each in found(_change(_base(), changes))} == {"shape/bad-address"}


@pytest.mark.parametrize(
    "rule", ["capacity/idle-nodes", "runtime/unused-runtime", "delivery/unlisted-component"]
)
def test_wrong_name_of_a_team_silences_only_what_it_may_concern(rule: str) -> None:
    """A wrong priority may mean no node, runtime or component."""
    changes, _ = read_case(CASES[rule] / "bad.yaml")
    told = found(_change(_base(), together(changes, {VISION: {"priorities": ["urgent"]}})))

    assert {each.rule for each in told} == {rule, "references/unknown-name"}


def test_mistakes_of_all_files_are_found_in_one_run(profiles: Path) -> None:
    """Shape, names, meaning, and a file that is not YAML, each in another file."""
    change(profiles, "teams/nlp.yaml", "runtimes: [openmpi-cuda, ", "runtime: [openmpi-cuda, ")
    change(profiles, "teams/science.yaml", "cohort: research", "cohort: reserch")
    change(profiles, "allocations.yaml", '"0x0102"', '"0x0101"')
    change(profiles, "runtimes/horovod.yaml", "version: ", "version: [")
    change(
        profiles, "teams/speech.yaml", "groups: {", 'groups: {"viewer": [system:authenticated], '
    )
    (profiles / "notes.txt").touch()
    checked = check(profiles, TODAY)

    assert checked.platform is None
    assert places(checked.diagnostics) == {
        ("shape/unknown-key", "profiles/teams/nlp.yaml"),
        ("shape/missing-key", "profiles/teams/nlp.yaml"),
        ("references/unknown-name", "profiles/teams/science.yaml"),
        ("fabric/partition-given-twice", "profiles/allocations.yaml"),
        ("shape/not-yaml", "profiles/runtimes/horovod.yaml"),
        ("access/system-subject", "profiles/teams/speech.yaml"),
        ("shape/misplaced-file", "profiles/notes.txt"),
    }
    assert generate(profiles, "../profiles/components", today=TODAY).files == {}


def test_profile_with_a_bad_name_is_left_out(profiles: Path) -> None:
    """Whoever names it is not told that there is none, and no node is idle for want of its team."""
    (profiles / "runtimes" / "torchrun.yaml").rename(profiles / "runtimes" / "torchrun.yml")
    (profiles / "teams" / "science.yaml").rename(profiles / "teams" / "Science.yaml")

    assert places(check(profiles, TODAY).diagnostics) == {
        ("shape/misplaced-file", "profiles/runtimes/torchrun.yml"),
        ("names/bad-file-name", "profiles/teams/Science.yaml"),
    }


def test_copy_beside_a_profile_does_not_hide_it(profiles: Path) -> None:
    """An editor's copy is refused, and the profile of that name is still checked."""
    change(profiles, "teams/nlp.yaml", "cohort: ", "cohort: no-")
    (profiles / "teams" / "nlp.yml").write_bytes((profiles / "teams" / "nlp.yaml").read_bytes())

    assert places(check(profiles, TODAY).diagnostics) == {
        ("shape/misplaced-file", "profiles/teams/nlp.yml"),
        ("references/unknown-name", "profiles/teams/nlp.yaml"),
    }


def test_folder_that_is_a_link_stops_the_check(profiles: Path) -> None:
    """Every name of its kind would seem to lead nowhere."""
    (profiles / "runtimes").rename(profiles.parent / "elsewhere")
    (profiles / "runtimes").symlink_to(profiles.parent / "elsewhere")

    assert places(check(profiles, TODAY).diagnostics) == {
        ("shape/misplaced-file", "profiles/runtimes")
    }


def test_without_waivers_only_errors_are_told(profiles: Path) -> None:
    """Nobody knows which warnings are waived while the file can't be used; errors can't be
    waived."""
    change(profiles, "waivers.yaml", "waivers:", "waiver:")
    change(profiles, "allocations.yaml", '"0x0102"', '"0x0101"')
    checked = check(profiles, TODAY)

    assert has_errors(checked.diagnostics)
    assert {rule for rule, _ in places(checked.diagnostics)} == {
        "shape/unknown-key",
        "shape/missing-key",
        "fabric/partition-given-twice",
    }


def test_namespace_of_a_team_that_is_left_out_is_not_taken_for_a_foreign_one() -> None:
    """An egress rule that names it is not asked for an owner."""
    egress = {"egress": {"x": {"namespaces": ["team-nlp"], "ports": [443]}}}
    broken = misshapen(_change(_base(), {CLUSTER: egress}), NLP)

    assert {each.rule for each in found(broken)} == {"shape/unknown-key"}
