"""Every rule by its cases."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.rules.cases import HERE, case_folders, findings, platform_of, read_case, rule_of, told
from trainyard.diagnostics import Rule, Severity
from trainyard.history import check as change
from trainyard.profiles.read import load
from trainyard.render.site import render_site
from trainyard.resolve import references
from trainyard.resolve.platform import resolve
from trainyard.rules import check
from trainyard.rules.check import CHECKS, RULES, check_meaning
from trainyard.workflows.generate import check_tree

FOLDERS = case_folders()
TOO_LARGE_FOR_A_CASE = {
    "fabric/too-many-partitions",
    "scheduling/too-many-pools-in-queue",
}
ONLY_OF_OLDER_TREES = {"change/object-changes-unit"}
"""Rules about committed objects that no profile makes any more."""


@pytest.mark.parametrize("folder", FOLDERS, ids=rule_of)
def test_bad_case_breaks_its_rule(folder: Path, update_golden: bool) -> None:
    """A bad case yields its rule, what it says it breaks beside it, and exactly the text that is
    expected."""
    changes, also = read_case(folder / "bad.yaml")
    found = findings(changes)
    expected = folder / "bad.expected"
    if update_golden:
        expected.write_text(told(found), encoding="utf-8")

    assert {each.rule for each in found} == {rule_of(folder), *also}
    assert told(found) == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("folder", FOLDERS, ids=rule_of)
def test_good_case_breaks_nothing(folder: Path) -> None:
    """A good case yields nothing at all, warnings included."""
    changes, also = read_case(folder / "good.yaml")

    assert told(findings(changes)) == ""
    assert not also


@pytest.mark.parametrize("folder", FOLDERS, ids=rule_of)
def test_good_case_can_be_generated(folder: Path) -> None:
    """What no rule stops is rendered without fault and refers to nothing that is missing."""
    changes, _ = read_case(folder / "good.yaml")
    found = [
        each for site in platform_of(changes).sites for each in check_tree(site, render_site(site))
    ]

    assert told(found) == ""


@pytest.mark.parametrize("folder", FOLDERS, ids=rule_of)
def test_case_stands_on_its_own(folder: Path) -> None:
    """Beside the two cases and the expected text nothing lies about."""
    assert {path.name for path in folder.iterdir()} == {"bad.yaml", "bad.expected", "good.yaml"}


def test_base_breaks_nothing() -> None:
    """What a case yields, it yields by its own changes."""
    assert told(list(check_meaning(platform_of({})))) == ""


def test_every_rule_has_cases() -> None:
    """A rule without cases has no page, and a case without a rule tests nothing."""
    assert {rule_of(folder) for folder in FOLDERS} == {
        rule.id for rule in (*references.RULES, *RULES, *change.RULES)
    } - TOO_LARGE_FOR_A_CASE - ONLY_OF_OLDER_TREES


@pytest.mark.parametrize(
    "rule", [*references.RULES, *RULES, *change.RULES], ids=lambda rule: rule.id
)
def test_rule_is_complete(rule: Rule) -> None:
    """Each rule has a stable id and says, in sentences, what it wants, why, and what to do."""
    assert re.fullmatch(r"[a-z]+/[a-z0-9]+(-[a-z0-9]+)*", rule.id)
    assert rule.severity in set(Severity)
    assert rule.summary.endswith(".")
    assert rule.why.rstrip(")").endswith((".", "`"))
    assert rule.fix.endswith(".")
    assert "  " not in f"{rule.summary} {rule.why} {rule.fix}"


def test_rules_are_distinct() -> None:
    """An id names one rule, and each rule has one check."""
    ids = [each.rule.id for each in CHECKS]
    assert len(set(ids)) == len(ids)
    assert len({each.find for each in CHECKS}) == len(CHECKS)


def test_id_of_a_rule_is_its_path() -> None:
    """Who reads an id opens the file; and a file that the stage does not run would look like a
    check and be none."""
    folder = Path(str(check.__file__)).parent
    files = (
        path.relative_to(folder).with_suffix("")
        for path in folder.glob("*/*.py")
        if path.stem[0] != "_"
    )

    assert [each.rule.id for each in CHECKS] == sorted(
        path.as_posix().replace("_", "-") for path in files
    )


def test_flagship_has_only_warnings_that_are_true() -> None:
    """The repository's own platform is an example, borrows, keeps an older runtime, and uses what
    one release can't."""
    profiles, _ = load(HERE.parents[1] / "profiles")
    platform, _ = resolve(profiles)
    found = list(check_meaning(platform))

    assert {(each.rule, each.severity) for each in found} == {
        ("delivery/placeholder-left", Severity.WARNING),
        ("runtime/deprecated-runtime", Severity.WARNING),
        ("scheduling/job-on-borrowed-nodes", Severity.WARNING),
        ("scheduling/no-return-after-steps", Severity.WARNING),
    }
