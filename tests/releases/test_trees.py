"""Each release makes a tree of this repository's profiles that is right, to the last object."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.calls import process
from tests.releases.platforms import ROOT, copy_on, on
from trainyard.diagnostics import Diagnostic, Severity
from trainyard.generation.objects import check_tree
from trainyard.profiles.read import load, releases
from trainyard.render.site import render_site
from trainyard.resolve.platform import resolve
from trainyard.rules.check import check_meaning
from trainyard.schema.defaults import filled

RELEASES = sorted(releases())


@pytest.mark.parametrize("release", RELEASES)
def test_no_rule_and_no_schema_refuses_what_is_made(release: str) -> None:
    """A field that the release's controllers lack would be an error here."""
    assert [each for each in _findings(release) if each.severity is Severity.ERROR] == []


def _findings(release: str) -> Iterator[Diagnostic]:
    platform, unresolved = resolve(filled(on(load(ROOT)[0], release)))
    yield from unresolved
    yield from check_meaning(platform)
    (site,) = (each for each in platform.sites if each.cluster.release.name == release)
    yield from check_tree(site, tuple(render_site(site)))


@pytest.mark.thorough
@pytest.mark.parametrize("release", RELEASES)
def test_tree_is_verified_and_nothing_skipped(release: str, tmp_path: Path) -> None:
    """As a user does it: from the profiles alone, with kustomize and kubeconform."""
    copy_on(release, tmp_path)
    generated = process("generate", cwd=tmp_path)
    verified = process("verify", cwd=tmp_path)

    assert (generated.code, verified.code) == (0, 0), generated.err + verified.err
    assert verified.out.count(" 0 skipped") == len(list((tmp_path / "overlays").iterdir()))
