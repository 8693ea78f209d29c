"""A release of a repository runs in its own versions, and its file says so afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.calls import edit
from tests.pages import done

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

_WARNING = "release/not-rehearsed"


def test_release_is_built_rehearsed_and_says_so(tmp_path: Path, cache: Path) -> None:
    """JobSet 0.11.1, which no shipped release pins: from upstream's module to the evidence."""
    folder = tmp_path / "platform"
    folder.mkdir()
    done(folder, "trainyard", "init", "--release", "kubernetes-1.34")
    done(folder, "trainyard", "add", "team", "nlp", "--nodes", "2")
    version = ("--set", "jobset=0.11.1")
    done(folder, "trainyard", "release", "new", "site", "--from", "kubernetes-1.34", *version)
    edit(folder / "profiles/clusters/lab.yaml", "release: kubernetes-1.34", "release: site")
    done(folder, "trainyard", "generate")
    assert _WARNING in done(folder, "trainyard", "validate")

    done(folder, "trainyard", "rehearse", "--build")
    (program,) = (cache / "programs").glob("jobset-0.11.1-*/jobset")
    assert program.stat().st_size > 1_000_000
    printed = done(folder, "trainyard", "rehearse")

    assert "wrote `tested: rehearsed` into release site" in printed
    assert _WARNING not in done(folder, "trainyard", "validate")
    done(folder, "trainyard", "generate")
    assert _WARNING not in done(folder, "trainyard", "generate")
