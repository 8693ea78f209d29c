"""The examples do what their READMEs say."""

from __future__ import annotations

import re
from pathlib import Path

from generator.diagnostics import Diagnostic
from generator.pipeline import check
from generator.rulebook import all_rules

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def line(diagnostic: Diagnostic) -> str:
    """Return a diagnostic as one line of the example's file."""
    path = ".".join(map(str, diagnostic.at.path))
    return f"{diagnostic.severity} {diagnostic.rule} {diagnostic.at.file} {path}: {diagnostic.message}"


def test_seed_architecture_is_refused_as_its_readme_says(update_golden: bool) -> None:
    """Each defect that can be written is found, and the README names exactly the rules that find one."""
    folder = EXAMPLES / "seed-architecture"
    diagnostics = check(folder / "profiles").diagnostics
    text = "".join(f"{line(each)}\n" for each in diagnostics)
    if update_golden:
        (folder / "diagnostics.txt").write_text(text, encoding="utf-8")
    ids = {rule.id for rule in all_rules()}
    named = set(re.findall(r"`([a-z]+/[a-z0-9-]+)`", (folder / "README.md").read_text(encoding="utf-8"))) & ids

    assert (folder / "diagnostics.txt").read_text(encoding="utf-8") == text
    assert named == {each.rule for each in diagnostics} - {"capacity/idle-nodes"}
