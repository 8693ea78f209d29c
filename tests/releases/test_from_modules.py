"""A release from Go modules, and from their CRDs as a cluster shows them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.cli.calls import Ended
from tests.cli.fixtures import here, plain, trainyard  # noqa: F401
from tests.recipes.modules import OFFLINE, need_modules
from trainyard.derivation.modules import modules
from trainyard.profiles.read import PACKAGE, load
from trainyard.schema.manifests import effective
from trainyard.workflows.known_releases import release_of

pytestmark = pytest.mark.thorough

Call = Callable[..., Ended]
VERSIONS = ("--set", "kueue=0.16.2", "--set", "trainer=2.1.0", "--set", "jobset=0.11.0")
OLD, NEW = "kubernetes-1.34", "kubernetes-1.36"


def crds_of(release: str, file: Path) -> Path:
    """Write the CRDs of a release's modules as `kubectl get crd -o json` prints them."""
    folder = PACKAGE / "releases" / release
    unpacked = modules(folder)
    items = []
    for module, name in json.loads((folder / "crds.json").read_text("utf-8")):
        text = (unpacked[module] / name).read_text("utf-8")
        documents = yaml.load_all(text, Loader=yaml.CSafeLoader)
        items += [each for each in documents if each and each["kind"].startswith("CustomRes")]
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), "utf-8")
    return file


@pytest.fixture
def site(
    here: Path,  # noqa: F811
    trainyard: Call,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """A repository on a machine that has the modules and no connection."""
    need_modules()
    for name, value in OFFLINE.items():
        monkeypatch.setenv(name, value)
    assert trainyard("init", "--release", NEW).code == 0
    return here


def test_release_from_a_dump_equals_that_from_modules(
    site: Path,
    trainyard: Call,  # noqa: F811
) -> None:
    """Byte by byte in its schemas, and both equal the shipped release of these versions."""
    dump = crds_of(OLD, site / "crds.json")
    fixed = ("release", "new")
    ended = trainyard(*fixed, "dumped", "--from", NEW, "--facts", str(dump), *VERSIONS)
    assert ended.code == 0, ended
    ended = trainyard(*fixed, "built", "--from", NEW, *VERSIONS)
    assert ended.code == 0, ended
    assert (site / "profiles/releases/built/go.sum").read_text("utf-8").count("h1:") == 4

    profiles, found = load(site / "profiles")
    assert found == ()
    dumped, built, wanted = (release_of(profiles, each) for each in ("dumped", "built", OLD))
    assert dumped.schemas.own == built.schemas.own
    assert dumped.schemas.own
    assert dumped.features == built.features == wanted.features
    ours, theirs = effective(built.schemas), effective(wanted.schemas)
    for path in built.schemas.own:
        assert ours[path] == theirs[path]


def test_all_of_a_shipped_release_from_modules(
    site: Path,
    trainyard: Call,  # noqa: F811
) -> None:
    """With Kubernetes' own version, every schema is that of the shipped release."""
    versions = (*VERSIONS, "--set", "kubernetes=1.34.4")
    ended = trainyard("release", "new", "built", "--from", NEW, *versions)
    assert ended.code == 0, ended
    profiles, _ = load(site / "profiles")
    built, wanted = release_of(profiles, "built"), release_of(profiles, OLD)
    ours, theirs = effective(built.schemas), effective(wanted.schemas)
    assert {path: ours[path] for path in theirs} == theirs


def test_version_that_is_not_served_is_refused(
    here: Path,  # noqa: F811
    trainyard: Call,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GOPROXY", "off")
    assert trainyard("init", "--release", NEW).code == 0
    ended = trainyard("release", "new", "built", "--from", NEW, "--set", "kueue=0.19.99")
    assert ended.code == 4, ended
    assert "sigs.k8s.io/kueue@v0.19.99" in ended.err
    assert not (here / "profiles/releases").exists()
