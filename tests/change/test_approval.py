"""Who approves a change: the owners in the base of each edited file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.rules.cases import changed
from trainyard.change.review import Approval, approvals
from trainyard.generation.generate import Generation, check_loaded
from trainyard.model.differences import Difference
from trainyard.tree.disk import DiskTree

NLP, SETTINGS, WAIVERS = "teams/nlp.yaml", "trainyard.yaml", "waivers.yaml"
OWNED: dict[str, Any] = {
    SETTINGS: {"owners": {"platform": ["@org/ml"], "waivers": ["@org/sec"]}},
    NLP: {"owners": ["@org/nlp"]},
}


def found(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    files: Mapping[str, bytes] | None = None,
    tree: Path = Path("none"),
) -> dict[str, Approval]:
    """Return the approvals of a change between two platforms by file."""
    base, head = (check_loaded(changed(each), (), "2026-11-21") for each in (before, after))
    generation = Generation(head, head.diagnostics, files or {})
    return {each.file: each for each in approvals(DiskTree(tree), base, generation)}


def test_same_profiles_need_no_approval() -> None:
    assert found(OWNED, OWNED) == {}


def test_changed_owners_are_approved_by_those_of_the_base() -> None:
    """Of the team's file by the team, of CODEOWNERS by the platform's owners."""
    edits = found(OWNED, {**OWNED, NLP: {"owners": ["@org/evil"]}})

    assert edits[f"profiles/{NLP}"] == Approval(
        f"profiles/{NLP}",
        ("@org/nlp",),
        "changed",
        (Difference("owners", ["@org/nlp"], ["@org/evil"]),),
        (Difference("owners", ["@org/nlp"], ["@org/evil"]),),
    )
    assert edits["CODEOWNERS"].owners == ("@org/ml",)
    settings = {"owners": {"platform": ["@org/evil"], "waivers": ["@org/sec"]}}
    taken = found(OWNED, {**OWNED, SETTINGS: settings})
    assert {each.owners for each in taken.values()} == {("@org/ml",)}
    assert taken.keys() == {f"profiles/{SETTINGS}", "CODEOWNERS"}


def test_limits_and_waivers_decide() -> None:
    """Another field of the same file does not."""
    waiver = {
        "rule": "capacity/idle-nodes",
        "file": "profiles/clusters/prod-east.yaml",
        "reason": "they come",
        "owner": "us",
        "expires": "2027-01-01",
    }
    settings = {**OWNED[SETTINGS], "review": {"deleted": 100}}
    edits = found(OWNED, {**OWNED, SETTINGS: settings, WAIVERS: {"waivers": [waiver]}})
    domain = found(OWNED, {**OWNED, SETTINGS: {**OWNED[SETTINGS], "branch": "next"}})

    assert [each.path for each in edits[f"profiles/{SETTINGS}"].decides] == ["review"]
    assert edits[f"profiles/{WAIVERS}"].owners == ("@org/sec",)
    assert [each.path for each in edits[f"profiles/{WAIVERS}"].decides] == ["waivers"]
    (only,) = domain.values()
    assert (only.edits, only.decides) == ((Difference("branch", None, "next"),), ())


def test_renamed_team_keeps_its_owners_or_shows_the_new() -> None:
    """The new file is the platform's until CODEOWNERS has a line for it."""
    team = {**changed(OWNED).teams["nlp"].value, "renamedFrom": "nlp"}
    same = found(OWNED, {**OWNED, NLP: None, "teams/language.yaml": team})
    taken = {**team, "owners": ["@org/evil"]}
    other = found(OWNED, {**OWNED, NLP: None, "teams/language.yaml": taken})

    assert same[f"profiles/{NLP}"].owners == ("@org/nlp",)
    assert not any(each.decides for each in same.values())
    assert other["profiles/teams/language.yaml"].owners == ("@org/ml",)
    (edit,) = other["profiles/teams/language.yaml"].decides
    assert (edit.old, edit.new) == (["@org/nlp"], ["@org/evil"])


def test_lockfile_that_changes_is_the_platforms(tmp_path: Path) -> None:
    tmp_path.joinpath("lab").mkdir()
    tmp_path.joinpath("lab", "trainyard.lock").write_bytes(b"old")
    files = {"lab/trainyard.lock": b"new", "lab/README.md": b"new"}

    assert found(OWNED, OWNED, files, tmp_path) == {
        "overlays/lab/trainyard.lock": Approval("overlays/lab/trainyard.lock", ("@org/ml",))
    }
    assert found(OWNED, OWNED, {"lab/trainyard.lock": b"old"}, tmp_path) == {}


def test_base_that_states_nobody_names_nobody() -> None:
    """Nor does one whose names have no target."""
    broken = {NLP: {"runtimes": ["nothing"]}}

    assert {each.owners for each in found({}, OWNED).values()} == {()}
    assert {each.owners for each in found(broken, OWNED).values()} == {()}
