"""A job of a stranger is judged by `fit`, and its text is only text in what that prints."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.forms.readers import commands
from tests.conftest import REPOSITORY
from tests.hostile.texts import STEERING, named
from trainyard.cli.main import run
from trainyard.yaml_io.emitter import emit
from trainyard.yaml_io.manifests import parse_manifests

pytestmark = pytest.mark.thorough

SAMPLE = REPOSITORY / "overlays" / "prod-east" / "samples" / "nlp" / "openmpi-cuda.yaml"
PLACES = (
    ("metadata", "name"),
    ("metadata", "namespace"),
    ("metadata", "labels", "kueue.x-k8s.io/queue-name"),
    ("spec", "runtimeRef", "name"),
    ("spec", "trainer", "image"),
)


def _jobs(text: str) -> Iterator[bytes]:
    """Yield a sample with a text at each place, with it as a key, and a file that begins with
    it."""
    (sample,) = parse_manifests(SAMPLE.read_text("utf-8"))
    for place in PLACES:
        job = copy.deepcopy(sample)
        mapping: dict[str, Any] = job
        for step in place[:-1]:
            mapping = mapping.setdefault(step, {})
        mapping[place[-1]] = text
        yield emit(job)
    yield emit({**sample, "spec": {**sample["spec"], text[:900]: text}})
    yield text.encode("utf-8", "surrogatepass") + b"\n" + emit(sample)


@pytest.mark.parametrize("text", STEERING, ids=named)
def test_output_steers_neither_terminal_nor_runner(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As text and as JSON, on stdout and on stderr."""
    job = tmp_path / "job.yaml"
    where = ["--team", "nlp", "--cluster", "prod-east", "--profiles", f"{REPOSITORY}/profiles"]
    for content in _jobs(text):
        job.write_bytes(content)
        code = run(["fit", str(job), *where, "--format", "text", "--format", f"json:{job}.json"])
        out, err = capsys.readouterr()

        assert code in {0, 1, 5}, (content, err)
        assert commands(out + err) == [], content
        assert all(char.isprintable() for char in (out + err).replace("\n", "")), content
        if code != 5:
            document = Path(f"{job}.json").read_text("utf-8")
            assert json.loads(document)["format"] == "fit"
            assert commands(document) == []
