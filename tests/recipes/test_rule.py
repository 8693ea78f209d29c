"""*Add a rule*, followed in a copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recipes.checkout import FRESH, Checkout

pytestmark = pytest.mark.thorough

RULE = '''\
"""Find runtimes whose image is named by a tag that moves."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.rules._check import Check

RULE = Rule(
    id="runtime/moving-tag",
    severity=Severity.WARNING,
    summary="No image has the tag `latest`.",
    why="Who reads the profile can't see which build the digest is.",
    fix="Write the version as the tag.",
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for runtime in platform.runtimes:
        if ":latest@" in runtime.image:
            yield RULE.at(runtime.at / "image", f"image `{runtime.image}` has the tag `latest`")


CHECK = Check(RULE, find)
'''
CASES = "tests/rules/test_cases.py"
BAD = f"""\
runtimes/openmpi-cuda.yaml:
  image: registry.example.com/ml/openmpi-cuda:latest@sha256:{"1c5e0f2d" * 8}
"""


def test_rule_takes_five_files(tmp_path: Path) -> None:
    """Its case is written, its page too, and what is quick to check about rules holds."""
    copy = Checkout(tmp_path, "Add a rule")
    copy.write("generator/trainyard/rules/runtime/moving_tag.py", RULE)
    copy.write("tests/rules/runtime/moving-tag/bad.yaml", BAD)
    copy.write("tests/rules/runtime/moving-tag/good.yaml", BAD.replace("latest", "4.1.6"))
    copy.type("pytest tests/rules --update-golden", [CASES, "-k", "moving-tag"])
    copy.insert(
        "tests/e2e/seen.py",
        "NOT_SHOWABLE = {",
        '    "runtime/moving-tag": "It is about who reads the profile.",\n',
    )
    copy.note("`runtime/moving-tag`.")
    tests = (*FRESH, "tests/test_rulebook.py", f"{CASES}::test_every_rule_has_cases")
    copy.type("make docs test", tests)

    assert "has the tag `latest`" in copy.run("cat tests/rules/runtime/moving-tag/bad.expected")
    assert "runtime/moving-tag" in copy.run("trainyard explain runtime/moving-tag")
    copy.done(most=5, but=["pytest -m e2e tests/e2e -k <rule>"])
