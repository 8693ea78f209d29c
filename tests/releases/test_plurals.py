"""The plural of each kind, which RBAC rules and the API's paths name it by."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from trainyard.diagnostics import ToolError
from trainyard.profiles.read import PACKAGE, load
from trainyard.resolve.release import resolve_release
from trainyard.schema.manifests import schema_folder

RELEASES = sorted(path.parent.name for path in PACKAGE.glob("releases/*/release.yaml"))
IRREGULAR = {
    ("k8s.cni.cncf.io", "NetworkAttachmentDefinition"): "network-attachment-definitions",
    ("networking.k8s.io", "NetworkPolicy"): "networkpolicies",
    ("kueue.x-k8s.io", "Topology"): "topologies",
    ("scheduling.k8s.io", "PriorityClass"): "priorityclasses",
    ("", "Namespace"): "namespaces",
}
NEVER_SERVED = {"component", "configuration", "kubeletconfiguration", "kustomization", "policy"}
"""Kinds of files that a program reads; no API server serves them."""


def plurals(release: str) -> dict[str, str]:
    """Return the plurals of a release by kind and group."""
    profiles, _ = load(Path("profiles"))
    source = profiles.plurals[release]
    return dict(resolve_release(release, profiles.releases[release], source).plurals)


@pytest.mark.parametrize("release", RELEASES)
def test_every_kind_that_is_served_has_a_plural(release: str) -> None:
    """A role that lacks one can't be written."""
    files = [path.stem.rpartition("_")[0] for path in schema_folder(release).rglob("*.json")]

    kinds = {key.partition(".")[0].lower() for key in plurals(release)}
    assert kinds == set(files) - NEVER_SERVED


def test_kind_without_a_schema_is_an_error_that_names_the_command() -> None:
    """A developer who adds a template sees no bug of Trainyard, but what is left to do."""
    profiles, _ = load(Path("profiles"))
    name = RELEASES[0]
    release = resolve_release(name, profiles.releases[name], profiles.plurals[name])
    with pytest.raises(ToolError, match=r"no schema of Thing\.a\.example: .* run `make schemas`"):
        release.plural("a.example", "Thing")


@pytest.mark.parametrize("release", RELEASES)
def test_irregular_plurals_are_those_of_the_api_server(release: str) -> None:
    """A wrong one is a rule that grants nothing: Argo CD's sync fails on the cluster only."""
    known = plurals(release)
    for (group, kind), plural in IRREGULAR.items():
        assert known.get(f"{kind}.{group}" if group else kind, plural) == plural


@pytest.mark.parametrize("release", RELEASES)
def test_plurals_agree_with_the_names_of_crd_files(release: str) -> None:
    """Many CRDs are in files `<group>_<plural>.yaml`, which controller-gen wrote."""
    crds = json.loads((schema_folder(release).parent / "crds.json").read_text("utf-8"))
    names = [Path(file).stem for _, file in crds]
    matches = [re.fullmatch(r"[a-z0-9-]+(?:\.[a-z0-9-]+)+_([a-z]+)", name) for name in names]
    expected = {match[1] for match in matches if match}

    assert len(expected) >= 12
    assert expected <= set(plurals(release).values())
