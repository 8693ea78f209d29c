"""Platforms that people have, written from the documentation alone: right, or refused clearly.

A file of `tests/platforms` has the profiles of one, as they were written at the first try. In two
of them a finding then asked for a larger share of the disk for the system.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages import ROOT
from tests.rules.cases import TODAY
from trainyard.diagnostics import Severity
from trainyard.generation.generate import generate
from trainyard.yaml_io.emitter import emit
from trainyard.yaml_io.reader import read

PLATFORMS = ROOT / "tests" / "platforms"
SETTINGS = b"format: 1\ndomain: ml.example.com\nrepository: https://git.example.com/ml/p.git\n"
SHARED = 40
"""Teams of a platform whose file has one of them."""


def _write(name: str, folder: Path) -> Path:
    """Write the profiles of a platform; return their folder."""
    path = PLATFORMS / f"{name}.yaml"
    source, problems = read(path.name, path.read_bytes())
    assert not problems
    for profile, body in source.value.items():
        file = folder / profile
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(emit(body))
    (folder / "trainyard.yaml").write_bytes(SETTINGS)
    one = folder / "teams" / "group-1.yaml"
    for number in range(2, SHARED + 1) if one.exists() else ():
        text = one.read_text("utf-8").replace("group-1", f"group-{number}")
        (one.parent / f"group-{number}.yaml").write_text(text, "utf-8")
    return folder


@pytest.mark.parametrize(
    ("name", "objects"),
    [
        ("a3-ultragpu", "'nvidia.com/gpu': '2'"),
        ("azure", "'rdma/ib': '8'"),
        ("efa", "'vpc.amazonaws.com/efa': '32'"),
        ("eks", "'nvidia.com/gpu': '8'"),
        ("gb200", "ComputeDomain"),
        ("kubespray", "169.254.25.10/32"),
        ("mi300x", "'amd.com/gpu': '8'"),
    ],
)
def test_platform_is_right_as_it_was_written(name: str, objects: str, tmp_path: Path) -> None:
    """No error, and the tree has what the platform is about."""
    generation = generate(_write(name, tmp_path), "../profiles/components", today=TODAY)

    assert not [each for each in generation.diagnostics if each.severity is Severity.ERROR]
    (manifests,) = generation.manifests.values()
    assert any(objects in f"{each.kind.name} {each.body}" for each in manifests)


@pytest.mark.parametrize(
    ("name", "rule", "words"),
    [
        ("a3-ultragpu-rdma", "fabric/share-without-its-devices", "goes with whole nodes"),
        ("azure-one-pool", "isolation/fabric-without-borders", "teams nlp and vision"),
        ("gaudi", "node/unsupported-gpu", "is of Intel"),
    ],
)
def test_platform_is_refused_in_one_clear_finding(
    name: str, rule: str, words: str, tmp_path: Path
) -> None:
    """Nothing else is wrong with it, and no warning follows from the same cause."""
    diagnostics = generate(
        _write(name, tmp_path), "../profiles/components", today=TODAY
    ).diagnostics
    (error,) = [each for each in diagnostics if each.severity is Severity.ERROR]

    assert (error.rule, words in error.message) == (rule, True)
    assert error.hint or error.consequence
    others = {each.rule.partition("/")[0] for each in diagnostics} - {rule.partition("/")[0]}
    assert others <= {"capacity", "delivery", "monitoring", "scheduling"}
