"""Every rule with its cases."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.rules.cases import HERE, as_text, case_folders, findings, platform_of, read_case, rule_of
from trainyard import resolve
from trainyard.change import history
from trainyard.change.history import tombstones
from trainyard.diagnostics import Rule, Severity
from trainyard.generation.objects import check_tree
from trainyard.profiles.read import load
from trainyard.render.site import render_site
from trainyard.resolve.platform import resolve as resolve_platform
from trainyard.rulebook import rules_found_by
from trainyard.rules import live
from trainyard.rules.check import CHECKS, check_meaning
from trainyard.schema.defaults import filled

FOLDERS = case_folders()
TOO_LARGE_FOR_A_CASE = {
    "fabric/too-many-partitions",
    "scheduling/too-many-pools-in-queue",
}
OF_A_REPLACED_CLUSTER = rules_found_by(history) - rules_found_by(tombstones)
"""What leaves the tree as a whole is seen with a tree on disk: `tests/tree/test_freshness.py`."""
WITH_CASES = sorted(
    {
        *rules_found_by(resolve),
        *(check.rule for check in CHECKS),
        *live.RULES,
        *OF_A_REPLACED_CLUSTER,
    },
    key=lambda rule: rule.id,
)
ONLY_OF_OLDER_TREES = {"change/object-changes-unit"}
"""Rules about committed objects that no profile makes any more."""


@pytest.mark.parametrize("folder", FOLDERS, ids=rule_of)
def test_bad_case_breaks_its_rule(folder: Path, update_golden: bool) -> None:
    """It breaks its rule and those under `also`, with the expected text."""
    changes, also = read_case(folder / "bad.yaml")
    found = findings(changes)
    expected = folder / "bad.expected"
    if update_golden:
        expected.write_text(as_text(found), encoding="utf-8")

    assert {each.rule for each in found} == {rule_of(folder), *also}
    assert as_text(found) == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("folder", FOLDERS, ids=rule_of)
def test_good_case_breaks_nothing(folder: Path) -> None:
    """A good case has no finding, not even a warning."""
    changes, also = read_case(folder / "good.yaml")

    assert as_text(findings(changes)) == ""
    assert not also


@pytest.mark.parametrize("folder", FOLDERS, ids=rule_of)
def test_good_case_renders_without_a_finding(folder: Path) -> None:
    """All names in its tree have a target."""
    changes, _ = read_case(folder / "good.yaml")
    found = [
        each for site in platform_of(changes).sites for each in check_tree(site, render_site(site))
    ]

    assert as_text(found) == ""


@pytest.mark.parametrize("folder", FOLDERS, ids=rule_of)
def test_folder_of_a_case_has_only_its_three_files(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} == {"bad.yaml", "bad.expected", "good.yaml"}


def test_base_breaks_nothing() -> None:
    """Every finding of a case comes from its own changes."""
    assert as_text(list(check_meaning(platform_of({})))) == ""


def test_every_rule_has_cases() -> None:
    """A rule without cases has no examples on its page."""
    ids = {rule.id for rule in WITH_CASES}
    assert {rule_of(folder) for folder in FOLDERS} == (
        ids - TOO_LARGE_FOR_A_CASE - ONLY_OF_OLDER_TREES
    )


@pytest.mark.parametrize("rule", WITH_CASES, ids=lambda rule: rule.id)
def test_rule_is_complete(rule: Rule) -> None:
    """Its id has the usual form, and its texts are sentences."""
    assert re.fullmatch(r"[a-z]+/[a-z0-9]+(-[a-z0-9]+)*", rule.id)
    assert rule.severity in set(Severity)
    assert rule.summary.endswith(".")
    assert rule.why.rstrip(")").endswith((".", "`"))
    assert rule.fix.endswith(".")
    assert "  " not in f"{rule.summary} {rule.why} {rule.fix}"


def test_each_rule_has_its_own_id_and_check() -> None:
    ids = [each.rule.id for each in CHECKS]
    assert len(set(ids)) == len(ids)
    assert len({each.find for each in CHECKS}) == len(CHECKS)


def test_own_platform_has_only_expected_warnings() -> None:
    """The repository's own platform is an example: it borrows, keeps an older runtime, and uses
    steps that one release can't restart."""
    profiles, _ = load(HERE.parents[1] / "profiles")
    platform, _ = resolve_platform(filled(profiles))
    found = list(check_meaning(platform))

    assert {(each.rule, each.severity) for each in found} == {
        ("delivery/placeholder-left", Severity.WARNING),
        ("runtime/deprecated-runtime", Severity.WARNING),
        ("scheduling/job-on-borrowed-nodes", Severity.WARNING),
        ("scheduling/no-return-after-steps", Severity.WARNING),
    }
