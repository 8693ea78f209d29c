"""The README: short, and what it shows is what happens."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pages import ROOT, blocks, call, done, shell_blocks

_README = ROOT / "README.md"
_IMAGES = ROOT / "docs" / "images"
_RESULT = re.compile(r"^\| .* \| ([\d,]+) of ([\d,]+) \|$", re.MULTILINE)
_OBJECTS = re.compile(r"\b(\d+) objects on")
_COLOUR = re.compile(r"#[0-9a-f]{6}")


def test_readme_is_at_most_120_lines() -> None:
    assert len(_README.read_text("utf-8").splitlines()) <= 120


def test_make_targets_of_the_readme_exist() -> None:
    """`make` alone is the first target; it and `make test` are a block of their own."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    typed = [line for block in shell_blocks(_README) for line in block.splitlines()]
    targets = {[*line.split(), "all"][1] for line in typed if line.startswith("make")}
    existing = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))

    assert "make\nmake test\n" in shell_blocks(_README)
    assert targets <= existing


def test_readme_shows_the_team_as_it_is(update_golden: bool) -> None:
    """The block is the team's profile, and the counts are those of each cluster's tree."""
    readme = _README.read_text("utf-8")
    profile = (ROOT / "profiles" / "teams" / "nlp.yaml").read_text("utf-8")
    counts = [_objects_of_nlp("prod-east"), _objects_of_nlp("lab")]
    if update_golden:
        numbers = map(str, counts)
        readme = _OBJECTS.sub(lambda _: f"{next(numbers)} objects on", readme)
        _README.write_text(readme, "utf-8")

    assert blocks(_README, "yaml") == [("yaml", profile)]
    assert f"These {len(profile.splitlines())} lines" in readme
    assert list(map(int, _OBJECTS.findall(readme))) == counts


def _objects_of_nlp(cluster: str) -> int:
    """Return how many objects a cluster's tree has of the team, in its own unit and in the shared
    ones."""
    site = ROOT / "overlays" / cluster
    own = {*(site / "teams" / "nlp").glob("*.yaml")} - {
        site / "teams" / "nlp" / "kustomization.yaml"
    }
    shared = [path for unit in ("platform", "argocd") for path in (site / unit).glob("*-nlp*.yaml")]
    return len(own) + len(shared)


@pytest.mark.thorough
def test_readme_shows_what_make_prints(update_golden: bool) -> None:
    """The last lines of `make` are what `trainyard verify` prints of this repository."""
    printed = "".join(done(ROOT, "trainyard", "verify").splitlines(keepends=True)[-4:])

    _compare("console", printed, update_golden=update_golden)


def test_readme_shows_a_diagnostic_as_it_is_printed(tmp_path: Path, update_golden: bool) -> None:
    """The partition of one team is given to another, as in the README."""
    shutil.copytree(ROOT / "profiles", tmp_path / "profiles")
    allocations = tmp_path / "profiles" / "allocations.yaml"
    text = allocations.read_text("utf-8")
    allocations.write_text(text.replace('nlp: {partition: "0x0101"', 'nlp: {partition: "0x0102"'))
    printed = call(tmp_path, "trainyard", "validate").stdout

    assert printed.startswith("error[fabric/partition-given-twice]")
    _compare("text", printed, update_golden=update_golden)


def _compare(language: str, printed: str, *, update_golden: bool) -> None:
    """Compare the one block of a language with what is printed, or rewrite it."""
    ((_, shown),) = blocks(_README, language)
    if update_golden:
        readme = _README.read_text("utf-8")
        fence = f"```{language}\n"
        _README.write_text(readme.replace(f"{fence}{shown}```", f"{fence}{printed}```"), "utf-8")
    else:
        assert shown == printed


@pytest.mark.thorough
def test_readme_begins_a_repository(tmp_path: Path) -> None:
    """The commands after the installation work in an empty folder."""
    (block,) = (block for block in shell_blocks(_README) if block.startswith("trainyard init"))

    done(tmp_path, "bash", "-ceu", block)
    done(tmp_path / "ml-platform", "trainyard", "generate", "--check")


def test_results_of_the_readme_are_those_of_the_proof() -> None:
    """Each result is the sum over both clusters of a row of the proof, or its count of rules."""
    results = {
        (int(held.replace(",", "")), int(tried.replace(",", "")))
        for held, tried in _RESULT.findall(_README.read_text("utf-8"))
    }
    proof = (ROOT / "docs" / "proof.md").read_text("utf-8")
    (rules,) = re.findall(r"\*\*Rules\*\*(.*?)\n\n", proof, re.DOTALL)
    counts = {int(number) for number in re.findall(r"\b\d+\b", rules)}
    (others,) = results - {*_sums(proof)}

    assert len(results) == 7
    assert {*others} <= counts


def _sums(proof: str) -> Iterator[tuple[int, int]]:
    """Yield, for each `held/tried` of a row, the sums over both clusters."""
    for line in proof.splitlines():
        columns = [re.findall(r"(\d+)/(\d+)", cell) for cell in line.split("|")]
        for pairs in zip(*filter(None, columns), strict=False):
            yield sum(int(held) for held, _ in pairs), sum(int(tried) for _, tried in pairs)


def test_picture_is_the_same_in_light_and_dark() -> None:
    """Only colours differ."""
    light, dark = (
        (_IMAGES / f"overview-{name}.svg").read_text("utf-8") for name in ("light", "dark")
    )

    assert _COLOUR.sub("", light) == _COLOUR.sub("", dark)
    assert light != dark
